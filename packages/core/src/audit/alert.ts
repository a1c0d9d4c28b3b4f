import type { AgentId } from '../kernel/agent-id.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Json } from './canonical-json.ts';

/** Something that an operator should look at. */
export interface AlertEvent {
  readonly type: 'audit_alert';
  readonly at: EpochMs;
  /** Null where it concerns the whole gateway. */
  readonly agent: AgentId | null;
  readonly alert: Alert;
  readonly details: { readonly [member: string]: Json };
  /** The day that budgets have gone back to, where that is what it tells. */
  readonly movedBackTo?: string;
}

export type Alert =
  | 'control_unconfirmed'
  | 'control_failed'
  | 'op_stale'
  | 'op_back'
  | 'reservation_released'
  | 'budget_overrun'
  | 'clock_set_back'
  | 'impersonation';
