import { numberIn, textIn } from '@reeve/core';
import type { ForwardPositions, Position } from '../../forwarding/forward-positions.ts';
import type { SqlDatabase } from './sql-database.ts';

/** The positions of targets in the database of the store. */
export class SqlForwardPositions implements ForwardPositions {
  readonly #sql: Pick<SqlDatabase, 'all' | 'run'>;

  constructor(sql: Pick<SqlDatabase, 'all' | 'run'>) {
    this.#sql = sql;
  }

  async open(target: string, first: Position): Promise<Position> {
    await this.#sql.run(
      'INSERT INTO forward_positions (target, seq, hash) VALUES (?, ?, ?) ON CONFLICT (target) DO NOTHING',
      target,
      first.seq,
      first.hash,
    );
    return await this.read(target);
  }

  async read(target: string): Promise<Position> {
    const [row = {}] = await this.#sql.all('SELECT seq, hash FROM forward_positions WHERE target = ?', target);
    return { seq: numberIn(row, 'seq'), hash: textIn(row, 'hash') };
  }

  async move(target: string, from: Position, to: Position): Promise<boolean> {
    const moved = await this.#sql.run(
      'UPDATE forward_positions SET seq = ?, hash = ? WHERE target = ? AND seq = ?',
      to.seq,
      to.hash,
      target,
      from.seq,
    );
    return moved === 1;
  }
}
