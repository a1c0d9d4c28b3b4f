import { openSync, readSync, writeSync } from 'node:fs';
import { unlessGone } from './unless-gone.ts';

const pieceLength = 4096;

/**
 * A file of the kernel that is opened once, so that it can be asked when no descriptor is left. It stays that of the process
 * or group that it was opened for, whatever gets its number or name later.
 */
export class KeptFile {
  readonly #descriptor: number | undefined;

  constructor(path: string, flags: 'r' | 'w' | 'r+') {
    this.#descriptor = unlessGone(() => openSync(path, flags));
  }

  /** Undefined once what it tells of is gone. */
  read(): string | undefined {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return undefined;
    return unlessGone(() => {
      const pieces: Buffer[] = [];
      for (let at = 0; ; ) {
        const piece = Buffer.alloc(pieceLength);
        const length = readSync(descriptor, piece, 0, pieceLength, at);
        if (length === 0) return Buffer.concat(pieces).toString('latin1');
        pieces.push(piece.subarray(0, length));
        at += length;
      }
    });
  }

  /** Does nothing once what it is about is gone. */
  write(text: string): void {
    const descriptor = this.#descriptor;
    if (descriptor !== undefined) unlessGone(() => writeSync(descriptor, text, 0));
  }
}
