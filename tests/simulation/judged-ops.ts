import { Broken } from './broken.ts';
import type { History } from './history.ts';
import type { OpState } from './judged-entry.ts';

/** An operation as the log tells of it. */
export interface JudgedOp {
  state: OpState;
  reserved: number;
  /** The agents on whose behalf it happens, by their names. */
  readonly delegators: readonly string[];
}

const nextStates: Readonly<Record<OpState, readonly OpState[]>> = {
  pending: ['running', 'terminated'],
  running: ['paused', 'completing', 'terminated'],
  paused: ['running', 'terminated'],
  completing: [],
  terminated: [],
};

/** What the log says of operations. They move by their table, and are decided once. */
export class JudgedOps {
  readonly #ops = new Map<string, JudgedOp>();
  /** How many operations of each agent are under way. */
  readonly #underWay = new Map<string, number>();
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  find(name: string): JudgedOp | undefined {
    return this.#ops.get(name);
  }

  has(name: string, ...states: readonly OpState[]): boolean {
    const op = this.#ops.get(name);
    return op !== undefined && states.includes(op.state);
  }

  /** Whoever has left, or acts for nobody any more, has nothing under way. */
  requireNoneOf(seq: number, agent: string): void {
    const count = this.#underWay.get(agent) ?? 0;
    if (count > 0) throw new Broken(`entry ${seq}: ${agent} has ended, and ${count} operations of it have not`);
  }

  requireReplay(seq: number, name: string, told: OpState | undefined): void {
    const known = this.#ops.get(name);
    if (known?.state === told) return;
    throw new Broken(`entry ${seq}: ${name} was answered as ${told}; it is ${known?.state}`);
  }

  decide(seq: number, name: string, op: JudgedOp): void {
    const known = this.#ops.get(name);
    if (known !== undefined && !isOver(known) && known.state !== 'pending') {
      throw new Broken(`entry ${seq}: ${name} was decided twice; it is ${known.state}`);
    }
    this.#put(name, op, 'any');
  }

  register(seq: number, name: string, state: OpState): void {
    const known = this.#ops.get(name);
    if (known !== undefined && !isOver(known)) {
      throw new Broken(`entry ${seq}: ${name} was registered again; it is ${known.state}`);
    }
    this.#put(name, { state, reserved: 0, delegators: [] }, 'any');
  }

  move(seq: number, name: string, from: OpState, to: OpState): JudgedOp {
    const known = this.#ops.get(name);
    if (known?.state !== from || !nextStates[from].includes(to)) {
      throw new Broken(`entry ${seq}: ${name} goes from ${from} to ${to}; it is ${known?.state}`);
    }
    const moved = { ...known, state: to };
    this.#put(name, moved, from);
    return moved;
  }

  #put(name: string, op: JudgedOp, from: OpState | 'any'): void {
    const agent = name.slice(0, name.indexOf(' '));
    const before = this.#ops.get(name);
    const more = Number(!isOver(op)) - Number(before !== undefined && !isOver(before));
    if (more !== 0) this.#underWay.set(agent, (this.#underWay.get(agent) ?? 0) + more);
    this.#ops.set(name, op);
    this.#history.happened({ model: 'op', do: 'move', op: name, from, to: op.state });
  }
}

export function isOver({ state }: Pick<JudgedOp, 'state'>): boolean {
  return state === 'completing' || state === 'terminated';
}
