import { describe, expect, test } from 'vitest';
import type { Approval } from './approval-queue.ts';
import { approvalWords, approvedSoFar, atHand, hasSpoken, isOpenWho } from './approval-queue.ts';
import { queueOf, stepFrom, withApproval } from './approval-queue.ts';

const now = Date.UTC(2026, 0, 1);

function approval(id: string, more: Partial<Approval> = {}): Approval {
  return {
    id,
    state: 'open',
    op_id: `${id}:s`,
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    title: 'pay()',
    action_type: 'tool_call',
    resource: 'pay',
    summary: '',
    run_id: '',
    user: null,
    action: {},
    digest: '',
    policy_rule: 'base/ask',
    rules: ['base/ask'],
    grantable: true,
    approvers: { by: [], not_user: false, words: '' },
    self_approved: false,
    policy_version: 'v',
    reason: 'approval required by rule base/ask',
    cost_micros: 0,
    cost_usd: '0.00',
    requested_at: new Date(now).toISOString(),
    expires_at: new Date(now + 60_000).toISOString(),
    required: 1,
    verdicts: [],
    decided_at: null,
    grant_id: null,
    ...more,
  };
}

const at = (ms: number) => ({ expires_at: new Date(now + ms).toISOString() });

describe('the queue', () => {
  test('has what expires first at the top, and nothing that has expired or was decided', () => {
    const queue = queueOf(
      [approval('b', at(9000)), approval('a', at(5000)), approval('x', at(0)), approval('y', { state: 'approved' })],
      now,
    );
    expect(queue.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('takes what an event says: a new one joins, a changed one is replaced, a decided one leaves', () => {
    const one = [approval('a')];
    expect(withApproval(one, approval('b')).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(withApproval(one, approval('a', { summary: 'new' }))[0]?.summary).toBe('new');
    expect(withApproval(one, approval('a', { state: 'expired' }))).toEqual([]);
  });

  test('goes on with the next when the one at hand is gone', () => {
    const queue = [approval('a'), approval('c')];
    expect(atHand(queue, 'c', 0)?.id).toBe('c');
    expect(atHand(queue, 'b', 1)?.id).toBe('c');
    expect(atHand(queue, 'd', 5)?.id).toBe('c');
    expect(atHand([], 'a', 0)).toBeUndefined();
  });

  test('steps to its ends and not beyond', () => {
    const queue = [approval('a'), approval('b')];
    expect(stepFrom(queue, 'a', 1)?.id).toBe('b');
    expect(stepFrom(queue, 'b', 1)?.id).toBe('b');
    expect(stepFrom(queue, 'a', -1)?.id).toBe('a');
    expect(stepFrom(queue, undefined, 1)?.id).toBe('a');
  });
});

describe('an approval', () => {
  test.each([
    [1, 0, 'It will run at once.'],
    [2, 0, 'Yours is 1 of 2: it will not run before 1 more person approves.'],
    [3, 0, 'Yours is 1 of 3: it will not run before 2 more people approve.'],
    [2, 1, 'Yours is 2 of 2: it will run at once.'],
  ])('of %i people says after %i what the next one does', (required, before, words) => {
    const actor = { kind: 'account' as const, id: 'p', label: '' };
    const given = { verdict: 'approve' as const, actor, self_approved: false, reason: '', at: '' };
    const verdicts = Array.from({ length: before }, () => given);
    expect(approvalWords(approval('a', { required, verdicts }))).toBe(words);
  });

  test('counts who has approved, and knows who has spoken', () => {
    const actor = { kind: 'account' as const, id: 'p1', label: 'Pat' };
    const two = approval('a', {
      required: 2,
      verdicts: [{ verdict: 'approve', actor, self_approved: false, reason: '', at: '' }],
    });
    expect(approvedSoFar(two)).toBe(1);
    expect(hasSpoken(two, 'p1')).toBe(true);
    expect(hasSpoken(two, 'p2')).toBe(false);
    expect(hasSpoken(two, undefined)).toBe(false);
  });
});

describe('whether a verdict counts', () => {
  const approvers = { by: [{ roles: ['owner' as const] }], not_user: false, words: 'somebody with the role owner' };

  test('is not known from an event, until the gateway has said so', () => {
    expect(isOpenWho(approval('a'))).toBe(false);
    expect(isOpenWho(approval('a', { approvers }))).toBe(true);
    expect(isOpenWho(approval('a', { approvers, refusal: null }))).toBe(false);
  });

  test('stays known when an event changes the approval', () => {
    const refusal = { code: 'not_an_approver', detail: 'no' };
    const [after] = withApproval([approval('a', { approvers, refusal })], approval('a', { approvers, required: 2 }));
    expect(after).toMatchObject({ required: 2, refusal });
  });
});
