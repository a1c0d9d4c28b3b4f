import type { Decision } from '../audit/entry.ts';
import type { Typed } from '../journal/journal.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { EpochMs } from '../kernel/clock.ts';

/** A check was answered. */
export interface DecisionEvent {
  readonly type: 'decision';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  /** Empty where the refusal left no operation. */
  readonly opId: string;
}

export function isDecisionEvent(event: Typed): event is DecisionEvent {
  return event.type === 'decision';
}
