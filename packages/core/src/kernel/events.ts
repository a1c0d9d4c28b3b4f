import type { Approval } from '../approvals/approval.ts';
import type { Json } from '../audit/canonical-json.ts';
import type { Micros, Total } from './money.ts';
import type { Period } from '../budget/period.ts';
import type { TierOf } from '../budget/tier.ts';
import type { Decision } from '../audit/entry.ts';
import type { OpRecord } from '../ops/op.ts';
import type { Scope } from '../policy/document.ts';
import type { AgentId } from './agent-id.ts';
import type { EpochMs } from './clock.ts';

/** Something that happened and that live views follow. Published once it is durable, never before. */
export type DomainEvent =
  | OpsChangeEvent
  | { readonly type: 'agent'; readonly at: EpochMs; readonly agent: AgentId; readonly change: AgentChange }
  | PolicyEvent
  | DecisionEvent
  | ApprovalEvent
  | BudgetEvent
  | AlertEvent;

/** Somebody is asked about an action, or it is decided. */
export interface ApprovalEvent {
  readonly type: 'approval';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly change: ApprovalChange;
  readonly approval: Approval;
}

/** `verdict`: one of several that are needed. */
export type ApprovalChange = 'requested' | 'verdict' | Exclude<Approval['state'], 'open'>;

/** An operation became known or has moved. */
export interface OpsChangeEvent {
  readonly type: 'ops_change';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly op: OpRecord;
  /** The day that its cost was booked to, where the move has settled one. */
  readonly booked?: string;
}

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

/** Other policies are in force, or what was loaded could not be. */
export interface PolicyEvent {
  readonly type: 'policy';
  readonly at: EpochMs;
  /** Of the set in force. */
  readonly version: string;
  readonly error: string | null;
  /** The stored document that was changed; null where the files were. */
  readonly document: {
    readonly name: string;
    readonly version: number;
    readonly scope: Scope;
    readonly change: PolicyChange;
  } | null;
}

export type PolicyChange = 'put' | 'rolled_back' | 'deleted';

/** A cap is nearly used up, or was about to be passed, or what was spent is corrected. */
export interface BudgetEvent {
  readonly type: 'budget';
  readonly at: EpochMs;
  /** Whose books: everybody's, or those of an org, a team or an agent. */
  readonly of: TierOf;
  readonly change: 'approached' | 'exceeded' | 'corrected';
  readonly period: Period;
  /** The day that it was booked to. */
  readonly day?: string;
  /** By how much it was corrected. */
  readonly amountMicros?: Total;
  /** The share of the cap that is used up; null where it was about to be passed, or is corrected. */
  readonly percent: number | null;
  /** Null where there is no cap. */
  readonly limitMicros: Micros | null;
  readonly totalMicros: Total;
}

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

export type AgentChange = 'registered' | 'deregistered' | 'suspended' | 'resumed';

export type Subscriber = (events: readonly DomainEvent[]) => void;

/**
 * Hands events to whoever subscribed, in order, a turn's events at a time. A subscriber that throws is reported
 * and does not keep the others from theirs.
 */
export class EventBus {
  readonly #subscribers = new Set<Subscriber>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  publish(events: readonly DomainEvent[]): void {
    if (events.length === 0) return;
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(events);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
