import { Line } from './line.ts';
import type { TlsGuard } from './tls-guard.ts';

/** All ways from a program to the outside. What holds the program holds every one of them, also those to come. */
export class Lines {
  readonly #open = new Set<Line>();
  readonly #holds = new Set<string>();

  make(guard?: TlsGuard): Line {
    const line = new Line(guard);
    for (const why of this.#holds) line.hold(why);
    this.#open.add(line);
    line.once('close', () => this.#open.delete(line));
    return line;
  }

  /** Stops the bytes of all of them. */
  hold(why: string): void {
    this.#holds.add(why);
    for (const line of this.#open) line.hold(why);
  }

  release(why: string): void {
    this.#holds.delete(why);
    for (const line of this.#open) line.release(why);
  }
}
