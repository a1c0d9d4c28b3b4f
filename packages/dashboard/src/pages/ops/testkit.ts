import type { Control, Op } from './op.ts';

/** A fixed moment plus this many milliseconds. */
export function at(ms: number): string {
  return new Date(Date.UTC(2030, 0, 1) + ms).toISOString();
}

export function anOp(members: Partial<Op> = {}): Op {
  return {
    op_id: 'trace:span',
    state: 'running',
    registered_at: at(0),
    updated_at: at(0),
    agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
    action_type: 'tool_call',
    resource: 'search',
    summary: '',
    run_id: '',
    via: null,
    reason: '',
    cost_micros: 0,
    input_tokens: null,
    output_tokens: null,
    cached_input_tokens: null,
    actor: null,
    control: null,
    stale: false,
    floor: false,
    ...members,
  };
}

export function aControl(members: Partial<Control> = {}): Control {
  return {
    id: 'ctl_1',
    action: 'pause',
    actor: { kind: 'account', id: 'acc_1', label: 'Ada' },
    reason: '',
    requested_at: at(0),
    delivered_at: null,
    acked_at: null,
    effective_at: null,
    status: 'requested',
    detail: '',
    evidence: 'none',
    processes: null,
    ...members,
  };
}
