/** How far a target has come: the newest entry that it certainly has. Sequence 0 has an empty hash. */
export interface Position {
  readonly seq: number;
  readonly hash: string;
}

/** Keeps the positions of targets, for all gateways on a store. */
export interface ForwardPositions {
  /** The position of a target. A target that has none yet gets `first`. */
  open(target: string, first: Position): Promise<Position>;
  /** The position of a target that was opened. */
  read(target: string): Promise<Position>;
  /**
   * Moves a position, unless somebody else has moved it meanwhile; then it returns false. So two gateways that both
   * think they forward never undo each other's progress.
   */
  move(target: string, from: Position, to: Position): Promise<boolean>;
}

/** The positions beside a store in memory. */
export class MemoryPositions implements ForwardPositions {
  readonly #positions = new Map<string, Position>();

  open(target: string, first: Position): Promise<Position> {
    const known = this.#positions.get(target) ?? first;
    this.#positions.set(target, known);
    return Promise.resolve(known);
  }

  read(target: string): Promise<Position> {
    return this.open(target, { seq: 0, hash: '' });
  }

  move(target: string, from: Position, to: Position): Promise<boolean> {
    const isSame = this.#positions.get(target)?.seq === from.seq;
    if (isSame) this.#positions.set(target, to);
    return Promise.resolve(isSame);
  }
}
