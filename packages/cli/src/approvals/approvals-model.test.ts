import { describe, expect, test } from 'vitest';
import type { Approval } from '../commands/approval-filters.ts';
import { ApprovalsModel } from './approvals-model.ts';
import { renderApprovals } from './render-approvals.ts';

function approval(id: string, members: Partial<Approval> = {}): Approval {
  return {
    id,
    state: 'open',
    op_id: `${id}:s`,
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    title: 'pay(amount: 20)',
    action_type: 'tool_call',
    resource: 'pay',
    summary: '',
    run_id: '',
    user: null,
    action: { tool_name: 'pay', args: { amount: 20 } },
    digest: 'd',
    policy_rule: 'house/payments',
    rules: ['house/payments'],
    grantable: true,
    approvers: { by: [], not_user: false, words: '' },
    self_approved: false,
    policy_version: 'v',
    reason: 'approval required by rule house/payments',
    cost_micros: 0,
    cost_usd: '0.00',
    requested_at: '2026-11-15T08:00:00.000Z',
    expires_at: '2026-11-15T08:05:00.000Z',
    required: 1,
    verdicts: [],
    decided_at: null,
    grant_id: null,
    ...members,
  };
}

describe('a live view of approvals', () => {
  test('shows what waits, the one that ends first at the top, and below it what was just decided', () => {
    const model = new ApprovalsModel();
    const late = approval('late', { expires_at: '2026-11-15T09:00:00.000Z' });
    model.reset([late, approval('soon'), approval('over')], 0);
    model.change(approval('over', { state: 'rejected' }), 0);
    expect(model.rows().map(({ id }) => id)).toEqual(['soon', 'late', 'over']);
    model.forget(9000);
    expect(model.rows()).toHaveLength(3);
    model.forget(11_000);
    expect(model.rows().map(({ id }) => id)).toEqual(['soon', 'late']);
  });

  test('lets go of what no longer waits when the list is read again', () => {
    const model = new ApprovalsModel();
    model.reset([approval('one'), approval('two')], 0);
    model.reset([approval('two')], 1);
    expect(model.rows().map(({ id }) => id)).toEqual(['two']);
  });

  test('keeps the chosen one while others come', () => {
    const model = new ApprovalsModel();
    model.reset([approval('one'), approval('two', { expires_at: '2026-11-15T08:06:00.000Z' })], 0);
    model.move(1);
    model.change(approval('first', { expires_at: '2026-11-15T08:01:00.000Z' }), 1);
    expect(model.chosen?.id).toBe('two');
    model.move(-10);
    expect(model.chosen?.id).toBe('first');
  });

  test('asks about what is open only', () => {
    const model = new ApprovalsModel();
    model.change(approval('one', { state: 'approved' }), 0);
    model.ask('approve');
    expect(model.asking).toBeUndefined();
  });

  test('shows the whole request above the question, within the screen', () => {
    const model = new ApprovalsModel();
    model.reset([approval('one')], 0);
    model.ask('reject');
    for (const size of [
      { columns: 100, rows: 40 },
      { columns: 40, rows: 10 },
    ]) {
      const lines = renderApprovals(model, 'http://x', size, false);
      expect(lines).toHaveLength(size.rows);
      expect(lines.every((line) => line.length <= size.columns)).toBe(true);
      expect(lines.at(-1)).toBe('reject one? y or n');
    }
    expect(renderApprovals(model, 'http://x', { columns: 100, rows: 40 }, false).join('\n')).toContain('"amount": 20');
  });
});
