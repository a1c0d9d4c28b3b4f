import type { DecisionEvent, DomainEvent } from '../kernel/events.ts';
import type { OpRecord } from '../ops/op.ts';

type Writable<Type> = { -readonly [Member in keyof Type]: Type[Member] };

const nobody = { orgId: '', teamId: '', agentId: '' };

/**
 * A place in the log, written over again and again. What every decision publishes is copied into it: kept as they are,
 * the events would live just long enough for the garbage collector to carry each of them from one generation to the
 * next, which costs a decision more than publishing them does.
 */
export class EventSlot {
  #holds: 'op' | 'decision' | 'other' = 'other';
  #at = 0;
  readonly #op: Writable<OpRecord> = {
    opId: '',
    agent: nobody,
    state: 'pending',
    registeredAt: 0,
    updatedAt: 0,
    actionType: null,
    resource: '',
    summary: '',
    runId: '',
    reason: '',
    costMicros: 0,
    policyRule: '',
    digest: '',
    control: null,
    stale: false,
  };
  #decision: DecisionEvent['decision'] = 'deny';
  #other: DomainEvent | undefined;

  put(event: DomainEvent): void {
    this.#at = event.at;
    this.#other = undefined;
    if (event.type === 'ops_change') {
      this.#holds = 'op';
      copyOp(event.op, this.#op);
    } else if (event.type === 'decision') {
      this.#holds = 'decision';
      this.#decision = event.decision;
      const op = this.#op;
      op.agent = event.agent;
      op.opId = event.opId;
      op.reason = event.reason;
      op.policyRule = event.policyRule;
    } else {
      this.#holds = 'other';
      this.#other = event;
    }
  }

  /** The event, made anew; undefined where none was ever put. */
  get(): DomainEvent | undefined {
    if (this.#holds === 'other') return this.#other;
    const { agent, opId, reason, policyRule } = this.#op;
    if (this.#holds === 'op') return { type: 'ops_change', at: this.#at, agent, op: { ...this.#op } };
    return { type: 'decision', at: this.#at, agent, decision: this.#decision, reason, policyRule, opId };
  }
}

/** Member by member: this is done twice for each decision, and `Object.assign` takes ten times as long. */
function copyOp(from: OpRecord, to: Writable<OpRecord>): void {
  to.opId = from.opId;
  to.agent = from.agent;
  to.state = from.state;
  to.registeredAt = from.registeredAt;
  to.updatedAt = from.updatedAt;
  to.actionType = from.actionType;
  to.resource = from.resource;
  to.summary = from.summary;
  to.runId = from.runId;
  to.reason = from.reason;
  to.costMicros = from.costMicros;
  to.policyRule = from.policyRule;
  to.digest = from.digest;
  to.control = from.control;
  to.stale = from.stale;
}
