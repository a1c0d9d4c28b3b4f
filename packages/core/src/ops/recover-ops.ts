import type { Operations } from './operations.ts';
import type { SavedOp } from './ops-slice.ts';
import type { EntryLog, StoredEntry } from '../audit/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { keptText, SharedTexts } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { LoggedEntry, LoggedLineage } from './logged-entry.ts';
import { headOf, readEntry } from './logged-entry.ts';
import type { OpState, Op, OpUsage } from './op.ts';
import { isOver, restoredOp } from './op.ts';
import type { Receipt } from './receipt.ts';

const page = 1000;
const mostLineages = 10_000;
const sharedMembers = ['resource', 'summary', 'runId', 'reason', 'policyRule', 'digest'] as const;

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

class Recovery {
  readonly #gov: Operations;
  readonly #ops = new Map<Agent, Map<string, Op>>();
  /** The last control of each operation that had one. */
  readonly #controls = new Map<Op, string>();
  /** The agents of the last entries, by their lineage as the log writes it. */
  readonly #byLineage = new Map<string, Agent | null>();
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

  constructor(gov: Operations) {
    this.#gov = gov;
    this.#now = { elapsed: gov.clock.elapsed(), epoch: gov.clock.now() };
  }

  row(row: SavedOp): void {
    const agent = this.#agentWith(row.agent);
    if (agent === undefined) return;
    const moved = { movedAt: this.#movedAt(row.updatedAt), seq: row.seq, savedSeq: row.seq };
    const op = this.#shared(restoredOp(agent, row, moved));
    if (row.controlId !== null) this.#controls.set(op, row.controlId);
    this.#put(op);
  }

  entry({ seq, canonical }: StoredEntry): void {
    const head = headOf(canonical);
    const { type, opId } = head;
    const agent = this.#agentOf(head.lineage);
    if (agent === null) return;
    if (type === 'AgentDeregistered') this.#left(agent, seq);
    if (opId === null) return;
    const known = this.#ops.get(agent)?.get(opId);
    if (known !== undefined && known.seq >= seq) return;
    const entry = readEntry(canonical, head);
    if (type === 'OpStateChanged' && entry.payload.from === null) {
      this.#decided(agent, entry, 'pending', seq);
    } else if (type === 'OpStateChanged') this.#changed(known, entry, seq);
    else if (type === 'OpPauseWidened') this.#takenOver(known, entry, seq);
    else if (type === 'BudgetReservationReleased') freed(known, seq);
    else if (entry.payload.op_state !== undefined && entry.payload.replay !== true) {
      this.#decided(agent, entry, entry.payload.op_state, seq);
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
    this.#gov.ops.adopt(this.#ops);
    for (const { agent, reservedMicros } of this.#gov.ops.reservations()) this.#gov.ledger.hold(agent, reservedMicros);
  }

  /** Drops the agent's operations from before it left. Those of a later registration stay. */
  #left(agent: Agent, seq: number): void {
    const ops = this.#ops.get(agent);
    for (const op of ops?.values() ?? []) if (op.seq < seq) ops?.delete(op.opId);
  }

  #decided(agent: Agent, entry: LoggedEntry, state: OpState, seq: number): void {
    const at = Date.parse(entry.at);
    const { payload, op_id: opId } = entry;
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
    this.#put(this.#shared(restoredOp(agent, record, moved)));
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
    let ops = this.#ops.get(op.owner);
    if (ops === undefined) {
      ops = new Map();
      this.#ops.set(op.owner, ops);
    }
    ops.set(op.opId, op);
  }

  #shared(op: Op): Op {
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

  #agentOf(lineage: string): Agent | null {
    const known = this.#byLineage.get(lineage);
    if (known !== undefined) return known;
    if (this.#byLineage.size === mostLineages) this.#byLineage.clear();
    const parsed = JSON.parse(lineage) as LoggedLineage;
    const id = { orgId: parsed.org_id ?? '', teamId: parsed.team_id, agentId: parsed.agent_id };
    const agent = this.#gov.directory.find(id) ?? null;
    // A copy: the text is a part of its entry, and would keep all of it.
    this.#byLineage.set(JSON.stringify(parsed), agent);
    return agent;
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
