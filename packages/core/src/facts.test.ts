import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
  'RunTally',
  'SigningKeyRing',
];

/** Who gets that beside the facts, and why that is right. */
const changers = {
  'access/callers.ts': 'a gateway that lost track reads all credentials again',
  'approvals/approvals.ts': 'says what its facts get',
  'approvals/restore-approvals.ts': 'a start applies facts',
  'budget/balance-fold.ts': 'balances of its own, by the log',
  'budget/balance-keeper.ts': 'forgets what is empty, by its own clock',
  'budget/budgets.ts': 'says what its facts get',
  'budget/ledger.ts': 'holds the balances',
  'budget/replay-balances.ts': 'balances of its own, by the log',
  'budget/verify-budgets.ts': 'balances of its own, by the log',
  'control/apply-receipt.ts': 'a part of the facts',
  'control/controls.ts': 'says what its facts get',
  'control/messages.ts': 'a part of the facts puts messages into outboxes',
  'facts.ts': 'all facts',
  'governance.ts': 'makes all of it',
  'ops/checkpoint.ts': 'forgets what is over, by its own clock',
  'ops/operations.ts': 'says what its facts get',
  'ops/registry.ts': 'holds the operations',
  'ops/replay-ops.ts': 'a start applies facts',
  'ops/unsaved-ops.ts': 'a part of the registry',
  'policy/load-policies.ts': 'puts files in force, which no fact has',
  'policy/policies.ts': 'says what its facts get',
  'recover.ts': 'a start applies facts',
  'replication/follow-commit.ts': 'applies facts of other gateways',
  'tenancy/directory.ts': 'holds the agents',
};

const imports = new RegExp(`^import [^;]*\\b(${changeable.join('|')})\\b[^;]*;`, 'm');

test('only facts get what changes memory, and these', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !/\.test\.ts$|^testkit|-facts\.ts$/.test(file))
    .filter((file) => imports.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
  expect(files.toSorted()).toEqual(Object.keys(changers));
});
