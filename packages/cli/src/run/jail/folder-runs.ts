import { readFileSync, statSync } from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const roundMs = 5;
/** Who is stopped in its turn keeps the others waiting for no longer than two seconds. */
const mostRounds = 400;

/**
 * The runs that stand in one folder, on names that the first has made and the last takes away. They know of each other by
 * names of sockets without a file: the kernel gives each to one process, and takes it back however that ends. No program
 * inside has a way to them.
 */
export class FolderRuns {
  readonly #name: string;
  #own: Server | undefined;

  constructor(folder: string) {
    const { dev, ino } = statSync(folder);
    this.#name = `reeve-run-${dev}-${ino}`;
  }

  /** Joins the others, and does what comes with it while none of them joins or leaves. */
  enter<Done>(deed: () => Done | Promise<Done>): Promise<Done> {
    return this.#inTurn(() => {
      // No two that are there have this name. A random one would cost a start the loading of all of node:crypto.
      this.#own = taken(`${this.#name}/${process.pid}-${process.hrtime.bigint()}`);
      return deed();
    });
  }

  /** Leaves the others. Who is the last takes everything away. */
  leave(asTheLast: () => void): Promise<void> {
    return this.#inTurn(() => {
      this.#own?.close();
      this.#own = undefined;
      if (!namesInUse().includes(`@${this.#name}/`)) asTheLast();
    });
  }

  async #inTurn<Done>(deed: () => Done | Promise<Done>): Promise<Done> {
    let turn = taken(this.#name);
    for (let round = 0; turn === undefined && round < mostRounds; round++, turn = taken(this.#name))
      await sleep(roundMs);
    try {
      // What it has begun need not be over.
      // oxlint-disable-next-line typescript/return-await
      return deed();
    } finally {
      turn?.close();
    }
  }
}

/** Undefined if another has it, or the kernel gives none. */
function taken(name: string): Server | undefined {
  const server = createServer((client) => client.destroy());
  server.on('error', () => {});
  server.listen({ path: `\0${name}` }).unref();
  return server.listening ? server : undefined;
}

function namesInUse(): string {
  try {
    return readFileSync('/proc/net/unix', 'latin1');
  } catch {
    return '';
  }
}
