import type { SavedOp } from './ops-slice.ts';
import type { EntryLog, LogFollower, ReplayedEntry } from '../audit/index.ts';
import { ByLineage, EntryTimes } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { keptText, SharedTexts } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { LoggedEntry } from './logged-entry.ts';
import { readEntry } from './logged-entry.ts';
import type { Op, OpRecord, OpState, OpUsage } from './op.ts';
import { bareRecord, isOver, recordOf } from './op.ts';
import type { OpsState } from './operations.ts';
import { applyOpOf } from './ops-facts.ts';
import type { Receipt } from './receipt.ts';

const page = 1000;
const sharedMembers = ['resource', 'summary', 'runId', 'reason', 'policyRule', 'digest'] as const;

/** What operations are restored from. */
export interface OpsLog extends EntryLog {
  /** The known ones among these receipts, in no particular order. */
  receipts(ids: readonly string[]): Promise<readonly Receipt[]>;
}

/**
 * Restores operations. A row says how an operation was as of an entry. Each later entry about it says what it was next,
 * and that is applied like any other fact.
 */
export class OpsReplay implements LogFollower {
  readonly after: number;
  readonly #state: OpsState;
  /** The last control of each operation that had one. */
  readonly #controls = new Map<Op, string>();
  readonly #agents: ByLineage<Agent | undefined>;
  readonly #times = new EntryTimes();
  readonly #texts = {
    resource: new SharedTexts(),
    summary: new SharedTexts(),
    runId: new SharedTexts(),
    reason: new SharedTexts(),
    policyRule: new SharedTexts(),
    digest: new SharedTexts(),
  };
  readonly #now: { readonly elapsed: number; readonly epoch: number };

  /** The rows are true up to the entry `replayFrom`, or beyond it. */
  constructor(state: OpsState, rows: Iterable<SavedOp>, replayFrom: number) {
    this.#state = state;
    this.after = replayFrom;
    this.#agents = new ByLineage((id) => state.directory.find(id));
    this.#now = { elapsed: state.clock.elapsed(), epoch: state.clock.now() };
    // Lists are in the order in which operations became known.
    for (const row of [...rows].sort((one, other) => one.registeredAt - other.registeredAt)) this.#row(row);
  }

  #row({ controlId, seq, ...row }: SavedOp): void {
    const agent = this.#state.directory.find(row.agent);
    if (agent === undefined) return;
    this.#apply(agent, { ...row, control: null, stale: false }, seq, controlId ?? undefined);
    this.#state.ops.noteSaved(agent, row.opId, seq, true);
  }

  follow(entry: ReplayedEntry): void {
    const { type, opId, seq } = entry;
    const agent = this.#agents.of(entry.lineage);
    if (agent === undefined) return;
    if (type === 'AgentDeregistered') this.#left(agent, seq);
    if (opId === null) return;
    const known = this.#state.ops.find(agent, opId);
    if (known !== undefined && known.seq >= seq) return;
    const logged = readEntry(entry);
    const after = recordAfter(known && recordOf(known), type, logged, agent.record.id, this.#times.of(entry));
    if (after !== undefined) this.#apply(agent, after, seq, logged.payload.control_id);
  }

  /** What was restored is whole now. */
  async finish(log: Pick<OpsLog, 'receipts'>): Promise<void> {
    this.#state.ops.sortEnded();
    // Receipts go on changing after the operation has moved, so they are read as they are now.
    const controlled = [...this.#controls].filter(([op]) => this.#state.ops.holds(op));
    for (let start = 0; start < controlled.length; start += page) {
      const some = controlled.slice(start, start + page);
      const receipts = await log.receipts(some.map(([, id]) => id));
      const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
      for (const [op, id] of some) this.#state.ops.restoreControl(op, byId.get(id) ?? null);
    }
  }

  /** Drops the agent's operations from before it left. Those of a later registration stay. */
  #left(agent: Agent, seq: number): void {
    const { ops, ledger } = this.#state;
    for (const op of [...ops.of(agent)]) {
      if (op.seq >= seq) continue;
      ops.forget(op);
      ledger.balances.reserve(agent.record.id, -op.reservedMicros);
    }
  }

  #apply(agent: Agent, record: OpRecord, seq: number, controlId: string | undefined): void {
    const { ops } = this.#state;
    const texts = Object.fromEntries(sharedMembers.map((member) => [member, this.#texts[member].of(record[member])]));
    const movedAt = this.#now.elapsed - Math.max(0, this.#now.epoch - record.updatedAt);
    applyOpOf(this.#state, agent, { ...record, ...texts }, { isHere: false, seq, onDurable: () => undefined, movedAt });
    const op = ops.find(agent, record.opId);
    if (controlId !== undefined && op !== undefined) this.#controls.set(op, controlId);
  }
}

/** What an operation is after an entry about it. Undefined if the entry changes nothing of it. */
function recordAfter(
  known: OpRecord | undefined,
  type: string,
  entry: LoggedEntry,
  agent: AgentId,
  at: EpochMs,
): OpRecord | undefined {
  const { payload } = entry;
  if (type === 'OpStateChanged') {
    if (payload.from === null) return decided(known, entry, 'pending', agent, at);
    return known === undefined || payload.to === undefined ? undefined : moved(known, entry, payload.to, at);
  }
  // The operation stays paused, by another control.
  if (type === 'OpPauseWidened') return payload.control_id === undefined ? undefined : known;
  if (type === 'BudgetReservationReleased') return known && { ...known, reservedMicros: 0 };
  if (payload.op_state === undefined || payload.replay === true) return undefined;
  return decided(known, entry, payload.op_state, agent, at);
}

function decided(
  known: OpRecord | undefined,
  { op_id: opId, payload, actionType, reason, policy_rule: policyRule }: LoggedEntry,
  state: OpState,
  agent: AgentId,
  at: EpochMs,
): OpRecord | undefined {
  if (opId === null) return undefined;
  // Only the first check decides. The row may have been written in its turn, and know of it already. An operation that
  // ended before was swept, and this is another one.
  const isKnown = known !== undefined && !isOver(known.state);
  const costMicros = payload.cost_micros ?? 0;
  return {
    ...bareRecord(agent, opId, at),
    state,
    registeredAt: isKnown ? known.registeredAt : at,
    actionType,
    resource: keptText(payload.resource ?? ''),
    summary: keptText(payload.summary ?? ''),
    runId: payload.run_id ?? '',
    via: payload.via ?? null,
    reason: keptText(reason ?? ''),
    costMicros,
    reservedMicros: isOver(state) ? 0 : costMicros,
    policyRule: policyRule ?? '',
    digest: payload.digest ?? '',
  };
}

function moved(known: OpRecord, { payload, reason }: LoggedEntry, state: OpState, at: EpochMs): OpRecord {
  const { trigger } = payload;
  const told = trigger === 'terminate' ? (reason ?? 'operation is terminated') : (reason ?? '');
  return {
    ...known,
    state,
    updatedAt: at,
    costMicros: payload.cost_micros ?? known.costMicros,
    usage: usageIn(payload) ?? known.usage,
    reservedMicros: isOver(state) ? 0 : known.reservedMicros,
    reason: trigger === 'terminate' || trigger === 'allow' ? keptText(told) : known.reason,
  };
}

function usageIn(payload: LoggedEntry['payload']): OpUsage | null {
  const { input_tokens: input, output_tokens: output, cached_input_tokens: cached } = payload;
  if (input === undefined && output === undefined && cached === undefined) return null;
  return { inputTokens: input ?? null, outputTokens: output ?? null, cachedInputTokens: cached ?? null };
}
