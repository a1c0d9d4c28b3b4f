import { expect, test } from 'vitest';
import { approvalsTable, grantsTable } from './approvals-rows.ts';

/** As the version before wrote it: with one rule, and only the digest of the resource. */
const approval = {
  id: 'apr_1',
  state: 'open',
  resource: '/etc/hosts',
  action: '{"path":"/etc/hosts","type":"file_operation"}',
  resourceDigest: 'c'.repeat(64),
  policyRule: 'p/ask',
  cause: 'rule',
  required: 2,
  verdicts: [{ verdict: 'approve', actor: { id: 'k', kind: 'api_key', label: '' }, reason: '', at: 1, grant: null }],
};
const grant = { id: 'grt_1', resource: '/etc/hosts', resourceDigest: 'c'.repeat(64), policyRule: 'p/ask' };

test('an approval of the version before has its one rule, and no grant can be given along with it', () => {
  expect(approvalsTable.itemOf({ record: JSON.stringify(approval) })).toMatchObject({
    rules: ['p/ask'],
    isGrantable: false,
    coverDigest: '',
    required: 2,
    approver: 'team',
    verdicts: [{ verdict: 'approve', people: [] }],
  });
  const ofBudget = { ...approval, cause: 'budget', policyRule: 'budget/org.day' };
  expect(approvalsTable.itemOf({ record: JSON.stringify(ofBudget) })).toMatchObject({ rules: [], approver: 'unbound' });
});

test('a grant of the version before covers nothing', () => {
  expect(grantsTable.itemOf({ record: JSON.stringify(grant) })).toMatchObject({
    coverDigest: '',
    rules: [],
    approvers: 0,
    covers: '/etc/hosts',
  });
});
