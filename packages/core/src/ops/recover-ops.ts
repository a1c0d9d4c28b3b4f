import type { Operations } from './operations.ts';
import type { SavedOp } from './ops-slice.ts';
import type { EntryLog, LogFollower, ReplayedEntry } from '../audit/index.ts';
import { ByLineage, EntryTimes } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { keptText, SharedTexts } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { LoggedEntry } from './logged-entry.ts';
import { readEntry } from './logged-entry.ts';
import type { MutableOp, OpState, OpUsage } from './op.ts';
import { isOver, restoredOp } from './op.ts';
import type { Receipt } from './receipt.ts';

const page = 1000;
const sharedMembers = ['resource', 'summary', 'runId', 'reason', 'policyRule', 'digest'] as const;

/** What operations are restored from. */
export interface OpsLog extends EntryLog {
  /** The known ones among these receipts, in no particular order. */
  receipts(ids: readonly string[]): Promise<readonly Receipt[]>;
}

/** Where an entry stands in the log, and when it was written. */
interface Place {
  readonly seq: number;
  readonly at: EpochMs;
}

/** Restores operations from their rows and from the entries written since. */
export class OpsRecovery implements LogFollower {
  readonly after: number;
  readonly #gov: Operations;
  readonly #ops = new Map<Agent, Map<string, MutableOp>>();
  /** All that were put, in the order of their rows and entries, and those of them that are no more. */
  readonly #inOrder: MutableOp[] = [];
  readonly #gone = new Set<MutableOp>();
  /** The last control of each operation that had one. */
  readonly #controls = new Map<MutableOp, string>();
  readonly #agents: ByLineage<Agent | undefined>;
  readonly #times = new EntryTimes();
  /** The agent of the last row. Rows are in the order of their agents, as a rule. */
  #last: { readonly id: AgentId; readonly agent: Agent | undefined } | undefined;
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
  constructor(gov: Operations, rows: Iterable<SavedOp>, replayFrom: number) {
    this.#gov = gov;
    this.after = replayFrom;
    this.#agents = new ByLineage((id) => gov.directory.find(id));
    this.#now = { elapsed: gov.clock.elapsed(), epoch: gov.clock.now() };
    for (const row of rows) this.#row(row);
  }

  #row(row: SavedOp): void {
    const agent = this.#agentWith(row.agent);
    if (agent === undefined) return;
    const moved = { movedAt: this.#movedAt(row.updatedAt), seq: row.seq, savedSeq: row.seq };
    const op = this.#shared(restoredOp(agent, row, moved));
    if (row.controlId !== null) this.#controls.set(op, row.controlId);
    this.#put(op);
  }

  follow(entry: ReplayedEntry): void {
    const { type, opId, seq } = entry;
    const agent = this.#agents.of(entry.lineage);
    if (agent === undefined) return;
    if (type === 'AgentDeregistered') this.#left(agent, seq);
    if (opId === null) return;
    const known = this.#ops.get(agent)?.get(opId);
    if (known !== undefined && known.seq >= seq) return;
    const logged = readEntry(entry);
    const { payload } = logged;
    const place = { seq, at: this.#times.of(entry) };
    if (type === 'OpStateChanged' && payload.from === null) this.#decided(agent, known, logged, 'pending', place);
    else if (type === 'OpStateChanged') this.#changed(known, logged, place);
    else if (type === 'OpPauseWidened') this.#takenOver(known, logged, seq);
    else if (type === 'BudgetReservationReleased') freed(known, seq);
    else if (payload.op_state !== undefined && payload.replay !== true) {
      this.#decided(agent, known, logged, payload.op_state, place);
    }
  }

  /** Hands the operations over to the registry, and what they reserve to the ledger. */
  async finish(log: Pick<OpsLog, 'receipts'>): Promise<void> {
    await this.#restoreControls(log);
    const { ops, ledger } = this.#gov;
    ops.adopt(this.#gone.size === 0 ? this.#inOrder : this.#inOrder.filter((op) => !this.#gone.has(op)));
    for (const { agent, reservedMicros } of ops.reservations()) ledger.hold(agent, reservedMicros);
  }

  /** Receipts go on changing after the operation has moved, so they are read as they are now. */
  async #restoreControls(log: Pick<OpsLog, 'receipts'>): Promise<void> {
    const controlled = [...this.#controls].filter(([op]) => !this.#gone.has(op));
    for (let start = 0; start < controlled.length; start += page) {
      const some = controlled.slice(start, start + page);
      const receipts = await log.receipts(some.map(([, id]) => id));
      const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
      for (const [op, id] of some) op.control = byId.get(id) ?? null;
    }
  }

  /** Drops the agent's operations from before it left. Those of a later registration stay. */
  #left(agent: Agent, seq: number): void {
    const ops = this.#ops.get(agent);
    for (const op of ops?.values() ?? []) {
      if (op.seq >= seq) continue;
      ops?.delete(op.opId);
      this.#gone.add(op);
    }
  }

  #decided(agent: Agent, known: MutableOp | undefined, entry: LoggedEntry, state: OpState, { at, seq }: Place): void {
    const { payload, op_id: opId } = entry;
    if (opId === null) return;
    // Only the first check decides. An operation that was decided or ended before has been swept, and this is another
    // one.
    const isFirstCheck = known?.digest === '' && known.state === 'pending';
    const registeredAt = isFirstCheck ? known.registeredAt : at;
    const record = {
      opId,
      state,
      registeredAt,
      updatedAt: at,
      actionType: entry.actionType,
      resource: keptText(payload.resource ?? ''),
      summary: keptText(payload.summary ?? ''),
      runId: payload.run_id ?? '',
      via: payload.via ?? null,
      reason: keptText(entry.reason ?? ''),
      costMicros: payload.cost_micros ?? 0,
      reservedMicros: isOver(state) ? 0 : (payload.cost_micros ?? 0),
      usage: null,
      policyRule: entry.policy_rule ?? '',
      digest: payload.digest ?? '',
    };
    const moved = { movedAt: this.#movedAt(at), seq, savedSeq: known?.savedSeq ?? 0 };
    if (known !== undefined) this.#gone.add(known);
    this.#put(this.#shared(restoredOp(agent, record, moved)));
  }

  #changed(op: MutableOp | undefined, entry: LoggedEntry, { at, seq }: Place): void {
    if (op === undefined || entry.payload.to === undefined) return;
    op.state = entry.payload.to;
    op.updatedAt = at;
    op.movedAt = this.#movedAt(at);
    op.costMicros = entry.payload.cost_micros ?? op.costMicros;
    op.usage = usageIn(entry.payload) ?? op.usage;
    if (isOver(op.state)) op.reservedMicros = 0;
    if (entry.payload.control_id !== undefined) this.#controls.set(op, entry.payload.control_id);
    if (entry.payload.trigger === 'terminate') op.reason = keptText(entry.reason ?? 'operation is terminated');
    if (entry.payload.trigger === 'allow') op.reason = keptText(entry.reason ?? '');
    op.seq = seq;
  }

  /** The operation stayed paused, by another control. */
  #takenOver(op: MutableOp | undefined, entry: LoggedEntry, seq: number): void {
    if (op === undefined || entry.payload.control_id === undefined) return;
    this.#controls.set(op, entry.payload.control_id);
    op.seq = seq;
  }

  #put(op: MutableOp): void {
    let ops = this.#ops.get(op.owner);
    if (ops === undefined) {
      ops = new Map();
      this.#ops.set(op.owner, ops);
    }
    ops.set(op.opId, op);
    this.#inOrder.push(op);
  }

  #shared(op: MutableOp): MutableOp {
    for (const member of sharedMembers) op[member] = this.#texts[member].of(op[member]);
    return op;
  }

  #agentWith(id: AgentId): Agent | undefined {
    const last = this.#last?.id;
    if (last?.agentId !== id.agentId || last.teamId !== id.teamId || last.orgId !== id.orgId) {
      this.#last = { id, agent: this.#gov.directory.find(id) };
    }
    return this.#last?.agent;
  }

  #movedAt(updatedAt: number): number {
    return this.#now.elapsed - Math.max(0, this.#now.epoch - updatedAt);
  }
}

function usageIn(payload: LoggedEntry['payload']): OpUsage | null {
  const { input_tokens: input, output_tokens: output, cached_input_tokens: cached } = payload;
  if (input === undefined && output === undefined && cached === undefined) return null;
  return { inputTokens: input ?? null, outputTokens: output ?? null, cachedInputTokens: cached ?? null };
}

/** The reservation is released, whatever becomes of the operation. */
function freed(op: MutableOp | undefined, seq: number): void {
  if (op === undefined) return;
  op.reservedMicros = 0;
  op.seq = seq;
}
