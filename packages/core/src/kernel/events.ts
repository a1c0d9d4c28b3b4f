import type { OpRecord } from '../ops/op.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import type { EpochMs } from './clock.ts';

/** Something that happened and that live views follow. Published once it is durable, never before. */
export type DomainEvent =
  | { readonly type: 'ops_change'; readonly at: EpochMs; readonly agent: AgentId; readonly op: OpRecord }
  | { readonly type: 'agent'; readonly at: EpochMs; readonly agent: AgentId; readonly change: AgentChange }
  | { readonly type: 'policy'; readonly at: EpochMs; readonly version: string; readonly error: string | null };

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
