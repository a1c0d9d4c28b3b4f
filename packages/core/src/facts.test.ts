import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { meanings } from './facts.ts';
import { noRows, nothingToApply } from './journal/meaning.ts';

/**
 * What can change memory. Rules see a `Known…` view of it, which has no method that changes anything. Of operations they
 * see `Op`, which TypeScript would let them change under another name.
 */
const changeable = [
  'AgentDirectory',
  'ApprovalRegistry',
  'ApprovalsState',
  'BalanceKeeper',
  'Balances',
  'BudgetsState',
  'Callers',
  'ControlRegistry',
  'ControlState',
  'Governance',
  'KeyRing',
  'Ledger',
  'MutableAgent',
  'MutableOp',
  'OpsRegistry',
  'OpsState',
  'OutboxState',
  'PoliciesState',
  'PolicyRegistry',
  'RunRegistry',
  'SigningKeyRing',
];

/** Who gets that beside the facts, and why that is right. */
const changers = {
  'access/callers.ts': 'a gateway that lost track reads all credentials again',
  'approvals/approvals.ts': 'says what its facts get',
  'approvals/restore-approvals.ts': 'a start applies facts',
  'approvals/watched-approvals.ts': 'notes what rules read',
  'budget/balance-fold.ts': 'balances of its own, by the log',
  'budget/balance-keeper.ts': 'forgets what is empty, by its own clock',
  'budget/bookings-of-entries.ts': 'balances of its own, by the log',
  'budget/budgets.ts': 'says what its facts get',
  'budget/ledger.ts': 'holds the balances',
  'budget/verify-budgets.ts': 'balances of its own, by the log',
  'budget/watched-ledger.ts': 'notes what rules read',
  'control/apply-receipt.ts': 'a part of the facts',
  'control/controls.ts': 'says what its facts get',
  'control/messages.ts': 'a part of the facts puts messages into outboxes',
  'control/watched-controls.ts': 'notes what rules read',
  'facts.ts': 'all facts',
  'governance.ts': 'makes all of it',
  'ops/checkpoint.ts': 'forgets what is over, by its own clock',
  'ops/forgotten-rows.ts': 'a part of the registry',
  'ops/in-row.ts': 'a part of the facts',
  'ops/op-in-run.ts': 'a part of the facts',
  'ops/operations.ts': 'says what its facts get',
  'ops/ops-of-entries.ts': 'a start on data of an older release',
  'ops/redo-untold.ts': 'a part of the facts',
  'ops/registry.ts': 'holds the operations',
  'ops/restore-ops.ts': 'a start applies facts',
  'ops/unsaved-ops.ts': 'a part of the registry',
  'ops/watched-ops.ts': 'notes what rules read',
  'policy/load-policies.ts': 'puts files in force, which no fact has',
  'policy/policies.ts': 'says what its facts get',
  'recover.ts': 'a start applies facts',
  'replication/follow-commit.ts': 'applies facts of other gateways',
  'runs/known-runs.ts': 'says what rules see',
  'runs/run-keeper.ts': 'saves them, and forgets by facts',
  'runs/watched-runs.ts': 'notes what rules read',
  'tenancy/directory.ts': 'holds the agents',
  'tenancy/watched-agents.ts': 'notes what rules read',
};

const imports = new RegExp(`^import [^;]*\\b(${changeable.join('|')})\\b[^;]*;`, 'm');

test('only facts get what changes memory, and these', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !/\.test\.ts$|^testkit|-facts\.ts$/.test(file))
    .filter((file) => imports.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
  expect(files.toSorted()).toEqual(Object.keys(changers));
});

/** Facts that change memory, and that a restart may forget: sessions are read with their accounts. */
const forgotten = ['rights_changed'];

test('what changes memory is in rows, or is applied again at a start', () => {
  const lost = Object.entries(meanings)
    .filter(([, { apply, rows, redo }]) => apply !== nothingToApply && rows === noRows && redo === undefined)
    .map(([name]) => name);
  expect(lost).toEqual(forgotten);
});
