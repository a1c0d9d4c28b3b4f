import type { Undo } from '../journal/index.ts';
import type { AgentKey } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import type { Delegation, DelegationChange } from './delegation.ts';
import { delegateOfChange } from './delegation.ts';

/** What rules see of delegations. */
export type KnownDelegations = Omit<Delegations, 'apply'>;

/** Who acts for whom, by delegate and by delegator. */
export class Delegations {
  readonly #byKey = new Map<AgentKey, Delegation>();
  readonly #byDelegator = new Map<AgentKey, Set<AgentKey>>();
  /** By delegator, those that have ended as well. */
  readonly #remembered = new Map<AgentKey, Set<AgentKey>>();
  readonly #ended = new Set<AgentKey>();

  /** The delegation by which an agent acts, while it lasts. */
  of({ key }: Pick<Agent, 'key'>): Delegation | undefined {
    const found = this.#byKey.get(key);
    return found?.endedAt === null ? found : undefined;
  }

  /** The delegation of an agent, also one that has ended. */
  find(key: AgentKey): Delegation | undefined {
    return this.#byKey.get(key);
  }

  /** The keys of the agents that act for this one by a delegation that lasts. */
  under({ key }: Pick<Agent, 'key'>): ReadonlySet<AgentKey> {
    return this.#byDelegator.get(key) ?? nobody;
  }

  /** All that are remembered by which this agent has delegated, those that have ended included. */
  *madeBy({ key }: Pick<Agent, 'key'>): Generator<Delegation> {
    for (const child of this.#remembered.get(key) ?? nobody) {
      const found = this.#byKey.get(child);
      if (found !== undefined) yield found;
    }
  }

  get all(): Iterable<Delegation> {
    return this.#byKey.values();
  }

  /** Those that have ended and are remembered. */
  *ended(): Generator<Delegation> {
    for (const key of this.#ended) {
      const found = this.#byKey.get(key);
      if (found !== undefined) yield found;
    }
  }

  /** Changes one, and returns how to take that back. */
  apply(change: DelegationChange): Undo {
    const key = agentKey(delegateOfChange(change));
    const before = this.#byKey.get(key);
    this.#set(key, change.kind === 'delegation_removed' ? undefined : change.delegation);
    return () => this.#set(key, before);
  }

  #set(key: AgentKey, delegation: Delegation | undefined): void {
    const before = this.#byKey.get(key);
    if (before !== undefined) {
      leave(this.#byDelegator, before, key);
      leave(this.#remembered, before, key);
    }
    this.#ended.delete(key);
    if (delegation === undefined) {
      this.#byKey.delete(key);
      return;
    }
    this.#byKey.set(key, delegation);
    join(this.#remembered, delegation, key);
    if (delegation.endedAt === null) join(this.#byDelegator, delegation, key);
    else this.#ended.add(key);
  }
}

type ByDelegator = Map<AgentKey, Set<AgentKey>>;

function join(index: ByDelegator, delegation: Delegation, key: AgentKey): void {
  const above = delegatorKey(delegation);
  const siblings = index.get(above);
  if (siblings === undefined) index.set(above, new Set([key]));
  else siblings.add(key);
}

function leave(index: ByDelegator, delegation: Delegation, key: AgentKey): void {
  const above = delegatorKey(delegation);
  const siblings = index.get(above);
  siblings?.delete(key);
  if (siblings?.size === 0) index.delete(above);
}

const nobody: ReadonlySet<AgentKey> = new Set();

function delegatorKey({ id, by }: Delegation): AgentKey {
  return agentKey({ ...id, agentId: by });
}
