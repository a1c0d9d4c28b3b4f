import type { Principal } from '../access/index.ts';
import { mayReach, requireScope } from '../access/index.ts';
import { entranceOf } from '../action/index.ts';
import type { Entrance } from '../kernel/index.ts';
import { ambiguousOp, parseOpPath, ReeveError } from '../kernel/index.ts';
import type { OpState } from './lifecycle.ts';
import type { Op, OpRecord } from './op.ts';
import { isOver } from './lifecycle.ts';
import { recordOf } from './op.ts';
import type { Operations } from './operations.ts';
import type { Agent, TenantFilter } from '../tenancy/index.ts';
import { visibleAgents, visibleLeft } from '../tenancy/index.ts';

/**
 * The operation that an id means among those the caller may reach: `trace:span`, or `org/team/agent/trace:span` with
 * `-` for an empty org or team. For a tenant, another tenant's operation does not exist, and makes no id ambiguous.
 */
export function findOp(gov: Operations, by: Principal, id: string): Op {
  const found = opsMeant(gov, id).filter((op) => mayReach(by, op.owner.record.id));
  const [op] = found;
  if (op === undefined) throw new ReeveError('op_not_found', `there is no operation "${id}"`);
  if (found.length === 1) return op;
  throw ambiguousOp(
    id,
    found.map(({ owner }) => owner.record.id),
  );
}

/** An operation, read once its state is durable. */
export async function readOp(gov: Operations, by: Principal, id: string): Promise<OpRecord> {
  requireScope(by, 'read');
  return await gov.journal.durable(() => recordOf(findOp(gov, by, id)));
}

function opsMeant(gov: Operations, id: string): readonly Op[] {
  const named = parseOpPath(id);
  if (named === undefined) return [];
  if (named.agent === undefined) return gov.ops.withId(named.opId);
  const owner = gov.directory.find(named.agent);
  const op = owner === undefined ? undefined : gov.ops.find(owner, named.opId);
  return op === undefined ? [] : [op];
}

export interface OpFilter extends TenantFilter {
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly state?: OpState | undefined;
  readonly door?: Entrance | undefined;
}

export interface OpPage {
  readonly ops: readonly OpRecord[];
  /** The ordinal of each operation. */
  readonly places: readonly number[];
  /** The ordinal before which the next page starts; null if there is none. */
  readonly next: number | null;
  readonly total: number;
}

/** How many operations of an agent are not over. */
export function inFlight(gov: Pick<Operations, 'ops'>, agent: Agent): number {
  let count = 0;
  for (const op of gov.ops.of(agent)) if (!isOver(op.state)) count++;
  return count;
}

/** How many operations one step looks at: about a millisecond. */
const opsPerStep = 20_000;

/** The operations that the caller may see, newest first. It looks at all of them, in steps, between decisions. */
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
  // A copy: an agent that registers again in between would come twice.
  for (const agent of [...visibleAgents(gov, by, filter), ...visibleLeft(gov, by, filter)]) {
    if (filter.agentId !== undefined && agent.record.id.agentId !== filter.agentId) continue;
    for (const op of gov.ops.of(agent)) {
      if (++looked % opsPerStep === 0) yield;
      if (!fits(op, filter)) continue;
      total++;
      if (op.ordinal < before) newest.offer(op);
    }
  }
  const found = newest.take();
  const shown = wholePlaces(found, limit);
  // Operations that moved in between may no longer match.
  const fitting = shown.filter((op) => fits(op, filter));
  return {
    ops: fitting.map(recordOf),
    places: fitting.map(({ ordinal }) => ordinal),
    next: found.length > shown.length ? (shown.at(-1)?.ordinal ?? null) : null,
    total,
  };
}

function fits(op: Op, { state, runId, door }: OpFilter): boolean {
  if (door !== undefined && entranceOf(op.via) !== door) return false;
  return (state === undefined || op.state === state) && (runId === undefined || op.runId === runId);
}

/** Up to `limit` of them, without parting those that share a place: the next page starts after it. */
function wholePlaces(found: readonly Op[], limit: number): readonly Op[] {
  const next = found[limit]?.ordinal;
  const whole = found.slice(0, limit).filter(({ ordinal }) => ordinal !== next);
  return whole.length === 0 ? found.slice(0, limit) : whole;
}

/** The newest of many, without sorting all of them: it drops those without a chance in between. */
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
