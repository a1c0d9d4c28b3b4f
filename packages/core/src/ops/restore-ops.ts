import type { AgentId } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { Op, OpRecord } from './op.ts';
import type { OpsState } from './operations.ts';
import { inOrderOf } from './op-order.ts';
import { restoreOp } from './ops-facts.ts';
import type { SavedOp } from './ops-slice.ts';
import type { Receipt } from './receipt.ts';

const page = 1000;

type SharedMembers = Pick<OpRecord, 'resource' | 'summary' | 'runId' | 'reason' | 'policyRule' | 'digest'>;

/** The known ones among these receipts, in no particular order. */
export type FindReceipts = (ids: readonly string[]) => Promise<readonly Receipt[]>;

/** Restores operations from their rows. Whatever the log says beyond the rows is applied before `finish`. */
export class RestoredOps {
  readonly #state: OpsState;
  readonly #shared: (text: string) => string;
  /** The last control of each operation that had one, and that is still to be shown. */
  readonly #controls = new Map<Op, string>();

  constructor(state: OpsState, rows: Iterable<SavedOp>, shared: (text: string) => string) {
    this.#state = state;
    this.#shared = shared;
    // Lists are in the order in which operations became known.
    const all = Array.from(rows, (row) => this.#sharing({ ...row, agent: this.#known(row.agent) }));
    for (const row of inOrderOf(all, 'registeredAt')) this.#row(row);
  }

  #row(row: SavedOp): void {
    const agent = this.#state.directory.find(row.agent);
    if (agent === undefined) return;
    this.#put(agent, { ...row, control: null, stale: false }, row.seq, row.controlId ?? undefined);
    this.#state.ops.noteSaved(agent, row.opId, row.seq, true);
  }

  #known(id: AgentId): AgentId {
    return this.#state.directory.find(id)?.record.id ?? id;
  }

  /** A start reads the same few rules, reasons and resources hundreds of thousands of times. */
  #sharing<Texts extends SharedMembers>(texts: Texts): Texts {
    const shared = this.#shared;
    return {
      ...texts,
      resource: shared(texts.resource),
      summary: shared(texts.summary),
      runId: shared(texts.runId),
      reason: shared(texts.reason),
      policyRule: shared(texts.policyRule),
      digest: shared(texts.digest),
    };
  }

  /** Puts an operation as it was at an entry. `controlId` names its last control, if that is new. */
  put(agent: Agent, record: OpRecord, seq: number, controlId: string | undefined): void {
    this.#put(agent, this.#sharing(record), seq, controlId);
  }

  #put(agent: Agent, record: OpRecord, seq: number, controlId: string | undefined): void {
    const { ops } = this.#state;
    restoreOp(this.#state, agent, ops.find(agent, record.opId), record, seq);
    if (controlId === undefined) return;
    const op = ops.find(agent, record.opId);
    if (op !== undefined) this.#controls.set(op, controlId);
  }

  /** Shows the controls that rows and entries name. Later facts say which control took over from them. */
  async showControls(find: FindReceipts): Promise<void> {
    const { ops } = this.#state;
    const shown = [...this.#controls].filter(([op]) => ops.holds(op));
    this.#controls.clear();
    await this.#show(shown, find);
  }

  /** What was restored is whole now. Receipts go on changing after the operation has moved, so they are read as they are. */
  async finish(find: FindReceipts): Promise<void> {
    const { ops } = this.#state;
    ops.sortEnded();
    const controlled: [Op, string][] = [];
    for (const owner of ops.owners()) {
      for (const op of ops.of(owner)) if (op.control !== null) controlled.push([op, op.control.id]);
    }
    await this.#show(controlled, find);
  }

  async #show(controls: readonly (readonly [Op, string])[], find: FindReceipts): Promise<void> {
    for (let start = 0; start < controls.length; start += page) {
      const some = controls.slice(start, start + page);
      const receipts = await find(some.map(([, id]) => id));
      const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]));
      for (const [op, id] of some) this.#state.ops.restoreControl(op, byId.get(id) ?? null);
    }
  }
}
