import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const sources = resolve(import.meta.dirname, '..');

/** Who acts for nobody, and why that is right. Everything else in the core names its caller. */
const ownWorkers = {
  'access/manage-keys.ts': 'the first keys of a gateway',
  'accounts/change-accounts.ts': 'the transaction has checked the caller; the log only tells',
  'accounts/record-restore.ts': 'what follows a restore',
  'approvals/settle-approval.ts': 'nobody decided in time',
  'control/messages.ts': 'a message was delivered',
  'control/own-agents.ts': 'nothing holds any more where somebody left',
  'control/run-bulk.ts': 'the sum of what the turns before have done',
  'control/settle-suspensions.ts': 'what follows from a suspension that was imposed or lifted',
  'decision/check-action.ts': 'who asks is part of the judgement',
  'logs/logs.ts': 'retention, and what the operator said at the start',
  'logs/record-backup.ts': 'a backup has left',
  'policy/load-policies.ts': 'files were read',
  'tenancy/admit-workload.ts': 'a file of the operator says that such a JWT registers its agent',
};

function filesWith(pattern: RegExp): string[] {
  return globSync('**/*.ts', { cwd: sources })
    .filter((file) => !/\.test\.ts$|^testkit|^journal/.test(file) && file !== 'index.ts')
    .filter((file) => pattern.test(readFileSync(join(sources, file), 'utf8')))
    .toSorted();
}

test('only these act in a turn without a caller', () => {
  expect(filesWith(/\bownWork\b/)).toEqual(Object.keys(ownWorkers));
});

test('nothing is written and waited for outside of a turn, but the ids of events', () => {
  expect(filesWith(/\.committed\(/)).toEqual(['events/event-log.ts']);
});
