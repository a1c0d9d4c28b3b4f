import type { Agent } from '../tenancy/index.ts';
import type { Op, OpRecord } from './op.ts';
import type { OpsState } from './operations.ts';
import { restoreOp } from './ops-facts.ts';
import type { SavedOp } from './ops-slice.ts';
import type { Receipt } from './receipt.ts';

const page = 1000;

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
    for (const row of [...rows].sort((one, other) => one.registeredAt - other.registeredAt)) this.#row(row);
  }

  #row({ controlId, seq, ...row }: SavedOp): void {
    const agent = this.#state.directory.find(row.agent);
    if (agent === undefined) return;
    this.put(agent, { ...row, control: null, stale: false }, seq, controlId ?? undefined);
    this.#state.ops.noteSaved(agent, row.opId, seq, true);
  }

  /** Puts an operation as it was at an entry. `controlId` names its last control, if that is new. */
  put(agent: Agent, record: OpRecord, seq: number, controlId: string | undefined): void {
    const { ops } = this.#state;
    restoreOp(this.#state, agent, record, { seq, shared: this.#shared });
    const op = ops.find(agent, record.opId);
    if (op !== undefined && controlId !== undefined) this.#controls.set(op, controlId);
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
