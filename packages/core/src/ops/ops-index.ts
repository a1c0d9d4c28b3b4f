import type { ReadonlyChunkedSet } from '../kernel/index.ts';
import { ChunkedSet, hashOf, WideIndex } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { Op } from './op.ts';
import { ownSlot } from './mutable-op.ts';

/**
 * Operations, by agent and by id. The same `trace:span` from another agent is another operation: neither agent can see or
 * touch the other's. Nearly every id belongs to one agent, and then costs one slot and nothing else.
 */
export class OpsIndex {
  /** Most agents have one operation at a time, which needs no set. */
  readonly #byAgent = new Map<Agent, Op | ChunkedSet<Op>>();
  readonly #byId: WideIndex<Op | SameId>;
  /** The operation that was found last. The facts of a decision name the same one several times. */
  #last: Op | undefined;

  constructor(seed: number) {
    this.#byId = new WideIndex(
      (known) => known.opId,
      (opId) => hashOf(opId, seed),
    );
  }

  /** The agents that have operations. */
  owners(): Iterable<Agent> {
    return this.#byAgent.keys();
  }

  of(agent: Agent): ReadonlyChunkedSet<Op> {
    const own = this.#byAgent.get(agent);
    if (own === undefined) return none;
    return own instanceof ChunkedSet ? own : only(own);
  }

  find(agent: Agent, opId: string): Op | undefined {
    const last = this.#last;
    if (last !== undefined && last.owner === agent && last.opId === opId) return last;
    const found = this.#byId.get(opId);
    const op = found instanceof SameId ? found.byAgent.get(agent) : found?.owner === agent ? found : undefined;
    if (op !== undefined) this.#last = op;
    return op;
  }

  /** The operations with this id, of any agent. */
  withId(opId: string): readonly Op[] {
    const found = this.#byId.get(opId);
    if (found === undefined) return [];
    return found instanceof SameId ? [...found.byAgent.values()] : [found];
  }

  /** Adds an operation. Its agent has no other one with its id. */
  add(op: Op): void {
    this.#last = op;
    this.#addToAgent(op);
    const found = this.#byId.setNew(op);
    if (found === undefined) return;
    if (found instanceof SameId) found.byAgent.set(op.owner, op);
    else this.#byId.set(new SameId(found, op));
  }

  remove(op: Op): void {
    this.#last = undefined;
    this.#removeFromAgent(op);
    const found = this.#byId.get(op.opId);
    if (found === op) this.#byId.delete(op.opId);
    if (!(found instanceof SameId) || found.byAgent.get(op.owner) !== op) return;
    found.byAgent.delete(op.owner);
    if (found.byAgent.size === 0) this.#byId.delete(op.opId);
  }

  #addToAgent(op: Op): void {
    const own = this.#byAgent.get(op.owner);
    if (own === undefined || own === op) {
      this.#byAgent.set(op.owner, op);
    } else if (own instanceof ChunkedSet) {
      own.add(op);
    } else {
      const both = new ChunkedSet(ownSlot);
      both.add(own);
      both.add(op);
      this.#byAgent.set(op.owner, both);
    }
  }

  #removeFromAgent(op: Op): void {
    const own = this.#byAgent.get(op.owner);
    if (own instanceof ChunkedSet) own.delete(op);
    if (own === op || (own instanceof ChunkedSet && own.size === 0)) this.#byAgent.delete(op.owner);
  }
}

/** Operations of several agents that have the same id. */
class SameId {
  readonly opId: string;
  readonly byAgent: Map<Agent, Op>;

  constructor(one: Op, other: Op) {
    this.opId = one.opId;
    this.byAgent = new Map([one, other].map((op) => [op.owner, op]));
  }
}

/** The operations of an agent that has one. */
function only(op: Op): ReadonlyChunkedSet<Op> {
  return { size: 1, [Symbol.iterator]: () => [op].values() };
}

const none: ReadonlyChunkedSet<Op> = new ChunkedSet(ownSlot);
