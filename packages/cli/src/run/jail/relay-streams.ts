import { closeSync, createReadStream, createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import type { Pipe } from './descriptors.ts';

/** Copies what the program writes. Ends when the last process has closed its end. */
export async function relayOutput(pipe: Pipe, to: number): Promise<void> {
  const reader = new Socket({ fd: pipe.reader, readable: true, writable: false });
  const writer = createWriteStream('', { fd: to, autoClose: false });
  reader.pipe(writer);
  // A full disk, or nobody who reads: the program then finds its pipe closed.
  writer.on('error', () => reader.destroy());
  await finished(reader, { writable: false }).catch(() => {});
  writer.end();
  await finished(writer).catch(() => {});
}

/** Copies what the program reads, as far as it reads. Nothing is read before it begins: another jail may get it instead. */
export class InputRelay {
  readonly #from: number;
  #pipe: Pipe | undefined;

  constructor(from: number, pipe: Pipe | undefined) {
    this.#from = from;
    this.#pipe = pipe;
  }

  begin(): void {
    const pipe = this.#take();
    if (pipe === undefined) return;
    const writer = new Socket({ fd: pipe.writer, readable: false, writable: true });
    const reader = createReadStream('', { fd: this.#from, autoClose: false });
    writer.on('error', () => reader.destroy());
    reader.on('error', () => writer.end());
    reader.pipe(writer);
    writer.unref();
  }

  /** If it has not begun, it does not begin any more. */
  leave(): void {
    const pipe = this.#take();
    if (pipe !== undefined) closeSync(pipe.writer);
  }

  #take(): Pipe | undefined {
    const pipe = this.#pipe;
    this.#pipe = undefined;
    return pipe;
  }
}

/** Closes the ends that only the program uses. */
export function closeEnds(ends: readonly number[]): void {
  for (const end of ends) closeSync(end);
}
