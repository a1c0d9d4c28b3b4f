import type { Principal } from '../access/principal.ts';
import type { Operations } from './operations.ts';
import type { TenantFilter } from '../tenancy/topology.ts';
import { visibleAgents } from '../tenancy/topology.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { OpState } from './lifecycle.ts';
import { isOver } from './lifecycle.ts';
import type { Op, OpRecord } from './op.ts';
import { recordOf } from './op.ts';

export interface OpFilter extends TenantFilter {
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly state?: OpState | undefined;
}

export interface OpPage {
  readonly ops: readonly OpRecord[];
  /** The ordinal of each. */
  readonly places: readonly number[];
  /** The ordinal before which the next page starts; null where there is none. */
  readonly next: number | null;
  readonly total: number;
}

/** How many operations of an agent are not over. */
export function inFlight(gov: Pick<Operations, 'ops'>, agent: Agent): number {
  let count = 0;
  for (const op of gov.ops.of(agent).values()) if (!isOver(op.state)) count++;
  return count;
}

/** So many are looked at in one go: about a millisecond. */
const opsPerStep = 20_000;

/**
 * The operations that the caller may see, the newest first. Looks at all of them, in steps: whoever runs it lets
 * decisions through in between.
 */
export function* listOps(
  gov: Operations,
  by: Principal,
  filter: OpFilter,
  page: { readonly before?: number | undefined; readonly limit: number },
): Generator<void, OpPage> {
  const { before = Number.POSITIVE_INFINITY, limit } = page;
  const newest = new Newest(limit + 1);
  let total = 0;
  let looked = 0;
  // As they are now: one that registers again in between would come twice.
  for (const agent of [...visibleAgents(gov, by, filter)]) {
    if (filter.agentId !== undefined && agent.record.id.agentId !== filter.agentId) continue;
    for (const op of gov.ops.of(agent).values()) {
      if (++looked % opsPerStep === 0) yield;
      if (!fits(op, filter)) continue;
      total++;
      if (op.ordinal < before) newest.offer(op);
    }
  }
  const found = newest.take();
  const shown = found.slice(0, limit);
  // What has moved on in between does not fit any more.
  const fitting = shown.filter((op) => fits(op, filter));
  return {
    ops: fitting.map(recordOf),
    places: fitting.map(({ ordinal }) => ordinal),
    next: found.length > shown.length ? (shown.at(-1)?.ordinal ?? null) : null,
    total,
  };
}

function fits(op: Op, { state, runId }: OpFilter): boolean {
  return (state === undefined || op.state === state) && (runId === undefined || op.runId === runId);
}

/** The newest of many, without sorting all of them: what has no chance any more is thrown away in between. */
class Newest {
  readonly #most: number;
  #kept: Op[] = [];
  /** Anything older is not among the newest. */
  #oldest = 0;

  constructor(most: number) {
    this.#most = most;
  }

  offer(op: Op): void {
    if (op.ordinal < this.#oldest) return;
    this.#kept.push(op);
    if (this.#kept.length < 4 * this.#most + 1000) return;
    this.#kept = this.take();
    this.#oldest = this.#kept.at(-1)?.ordinal ?? 0;
  }

  take(): Op[] {
    return this.#kept.toSorted((a, b) => b.ordinal - a.ordinal).slice(0, this.#most);
  }
}
