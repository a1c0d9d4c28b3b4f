import type { ActionType, Via } from '../action/index.ts';
import type { Operations } from './operations.ts';
import type { SavedOp } from './ops-slice.ts';
import type { EntryLog, StoredEntry } from '../audit/index.ts';
import { keptText } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { OpState, Op, OpUsage } from './op.ts';
import { isOver, restoredOp } from './op.ts';
import type { Receipt } from './receipt.ts';

const page = 1000;

/** What operations are restored from. */
export interface OpsLog extends EntryLog {
  /** The known ones among these receipts, in no particular order. */
  receipts(ids: readonly string[]): Promise<readonly Receipt[]>;
}

/** Restores operations from their rows and from the entries written since. */
export async function recoverOps(
  gov: Operations,
  rows: Iterable<SavedOp>,
  log: OpsLog,
  replayFrom: number,
): Promise<void> {
  const recovery = new Recovery(gov);
  for (const row of rows) recovery.row(row);
  let seq = replayFrom;
  for (;;) {
    const entries = await log.after(seq, page);
    for (const entry of entries) recovery.entry(entry);
    const last = entries.at(-1);
    if (last === undefined) break;
    seq = last.seq;
  }
  await recovery.restoreControls(log);
  recovery.finish();
}

/** The members of an entry that describe an operation. */
interface LoggedEntry {
  readonly at: string;
  readonly event_type: string;
  readonly lineage: { readonly org_id: string | null; readonly team_id: string; readonly agent_id: string };
  readonly op_id: string | null;
  readonly policy_rule: string | null;
  readonly reason: string | null;
  readonly payload: {
    readonly action?: { readonly type: ActionType };
    readonly op_state?: OpState;
    readonly digest?: string;
    readonly cost_micros?: number;
    readonly resource?: string;
    readonly run_id?: string;
    readonly summary?: string;
    readonly via?: Via;
    readonly replay?: boolean;
    /** Null in an operation's first entry: it was registered without a check. */
    readonly from?: OpState | null;
    readonly to?: OpState;
    readonly trigger?: string;
    readonly control_id?: string;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly cached_input_tokens?: number;
  };
}

class Recovery {
  readonly #gov: Operations;
  readonly #ops = new Map<Agent, Map<string, Op>>();
  /** The last control of each operation that had one. */
  readonly #controls = new Map<Op, string>();

  readonly #now: { readonly elapsed: number; readonly epoch: number };

  constructor(gov: Operations) {
    this.#gov = gov;
    this.#now = { elapsed: gov.clock.elapsed(), epoch: gov.clock.now() };
  }

  row(row: SavedOp): void {
    const agent = this.#gov.directory.find(row.agent);
    if (agent === undefined) return;
    const moved = { movedAt: this.#movedAt(row.updatedAt), seq: row.seq, savedSeq: row.seq };
    const op = restoredOp(agent, row, moved);
    if (row.controlId !== null) this.#controls.set(op, row.controlId);
    this.#put(op);
  }

  entry(stored: StoredEntry): void {
    const entry = JSON.parse(stored.canonical) as LoggedEntry;
    const agent = this.#agentOf(entry);
    if (agent === undefined) return;
    if (entry.event_type === 'AgentDeregistered') this.#left(agent, stored.seq);
    if (entry.op_id === null) return;
    const known = this.#ops.get(agent)?.get(entry.op_id);
    if (known !== undefined && known.seq >= stored.seq) return;
    if (entry.event_type === 'OpStateChanged' && entry.payload.from === null) {
      this.#decided(agent, entry, entry.op_id, 'pending', stored.seq);
    } else if (entry.event_type === 'OpStateChanged') this.#changed(known, entry, stored.seq);
    else if (entry.event_type === 'OpPauseWidened') this.#takenOver(known, entry, stored.seq);
    else if (entry.event_type === 'BudgetReservationReleased') freed(known, stored.seq);
    else if (entry.payload.op_state !== undefined && entry.payload.replay !== true) {
      this.#decided(agent, entry, entry.op_id, entry.payload.op_state, stored.seq);
    }
  }

  /** Receipts go on changing after the operation has moved, so they are read as they are now. */
  async restoreControls(store: Pick<OpsLog, 'receipts'>): Promise<void> {
    const controlled = [...this.#controls].filter(([op]) => this.#ops.get(op.owner)?.get(op.opId) === op);
    for (let start = 0; start < controlled.length; start += page) {
      const some = controlled.slice(start, start + page);
      const receipts = await store.receipts(some.map(([, id]) => id));
      const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
      for (const [op, id] of some) op.control = byId.get(id) ?? null;
    }
  }

  finish(): void {
    const all = [...this.#ops.values()].flatMap((ops) => [...ops.values()]);
    all.sort((a, b) => a.registeredAt - b.registeredAt);
    for (const op of all) this.#gov.ops.number(op);
    all.sort((a, b) => a.movedAt - b.movedAt);
    for (const op of all) this.#gov.ops.restore(op);
    for (const { agent, reservedMicros } of this.#gov.ops.reservations()) this.#gov.ledger.hold(agent, reservedMicros);
  }

  /** Drops the agent's operations from before it left. Those of a later registration stay. */
  #left(agent: Agent, seq: number): void {
    const ops = this.#ops.get(agent);
    for (const op of ops?.values() ?? []) if (op.seq < seq) ops?.delete(op.opId);
  }

  #decided(agent: Agent, entry: LoggedEntry, opId: string, state: OpState, seq: number): void {
    const at = Date.parse(entry.at);
    const { payload } = entry;
    const known = this.#ops.get(agent)?.get(opId);
    // Only the first check decides. An operation that was decided or ended before has been swept, and this is another
    // one.
    const isFirstCheck = known?.digest === '' && known.state === 'pending';
    const registeredAt = isFirstCheck ? known.registeredAt : at;
    const record = {
      opId,
      state,
      registeredAt,
      updatedAt: at,
      actionType: payload.action?.type ?? null,
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
    this.#put(restoredOp(agent, record, { movedAt: this.#movedAt(at), seq, savedSeq: known?.savedSeq ?? 0 }));
  }

  #changed(op: Op | undefined, entry: LoggedEntry, seq: number): void {
    if (op === undefined || entry.payload.to === undefined) return;
    op.state = entry.payload.to;
    op.updatedAt = Date.parse(entry.at);
    op.movedAt = this.#movedAt(op.updatedAt);
    op.costMicros = entry.payload.cost_micros ?? op.costMicros;
    op.usage = usageIn(entry.payload) ?? op.usage;
    if (isOver(op.state)) op.reservedMicros = 0;
    if (entry.payload.control_id !== undefined) this.#controls.set(op, entry.payload.control_id);
    if (entry.payload.trigger === 'terminate') op.reason = keptText(entry.reason ?? 'operation is terminated');
    if (entry.payload.trigger === 'allow') op.reason = keptText(entry.reason ?? '');
    op.seq = seq;
  }

  /** The operation stayed paused, by another control. */
  #takenOver(op: Op | undefined, entry: LoggedEntry, seq: number): void {
    if (op === undefined || entry.payload.control_id === undefined) return;
    this.#controls.set(op, entry.payload.control_id);
    op.seq = seq;
  }

  #put(op: Op): void {
    const ops = this.#ops.get(op.owner) ?? new Map<string, Op>();
    ops.set(op.opId, op);
    this.#ops.set(op.owner, ops);
  }

  #agentOf(entry: LoggedEntry): Agent | undefined {
    const { org_id, team_id, agent_id } = entry.lineage;
    return this.#gov.directory.find({ orgId: org_id ?? '', teamId: team_id, agentId: agent_id });
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
function freed(op: Op | undefined, seq: number): void {
  if (op === undefined) return;
  op.reservedMicros = 0;
  op.seq = seq;
}
