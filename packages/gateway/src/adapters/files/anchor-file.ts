import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Anchor } from '@reeve/contract/audit';
import { anchorLine, anchorOf } from '@reeve/contract/audit';
import { withAdvice } from '../../explain-start.ts';
import { StartError } from '../../start-error.ts';

/** How much of the end of the file is read, about a thousand lines. */
const tailBytes = 256 * 1024;
const newline = 10;

/** A file to which the heads of the log are appended. It is only ever opened for appending and reading. */
export class AnchorFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * The newest lines, oldest first; empty if the file is new. Throws a `StartError` if the file cannot be read or holds
   * something else.
   */
  async newest(): Promise<readonly Anchor[]> {
    const text = await this.#tail();
    const anchors: Anchor[] = [];
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const anchor = anchorOf(line);
      if (anchor === undefined) {
        throw this.#refused(
          'holds a line that is no anchor; was it written by something else? Move it away to begin a new one',
        );
      }
      if (anchor !== 'torn') anchors.push(anchor);
    }
    return anchors;
  }

  /** Appends a line, and resolves once it is on the disk. */
  async append(anchor: Anchor): Promise<void> {
    const file = await open(this.path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    try {
      // A kill may have torn the last line; then the next one starts on a new line.
      const isTorn = (await lastByte(file)) !== newline;
      await file.appendFile(`${isTorn ? '\n' : ''}${anchorLine(anchor)}`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #tail(): Promise<string> {
    try {
      const file = await open(this.path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
      try {
        const { size } = await file.stat();
        const start = Math.max(0, size - tailBytes);
        const bytes = Buffer.alloc(size - start);
        await file.read(bytes, 0, bytes.length, start);
        // A tail starts in the middle of a line, so its first line is dropped.
        const from = start === 0 ? 0 : bytes.indexOf(newline) + 1;
        return bytes.toString('utf8', from);
      } finally {
        await file.close();
      }
    } catch (error) {
      throw this.#refused(`cannot be read and appended to: ${withAdvice(error)}`);
    }
  }

  #refused(why: string): StartError {
    return new StartError(`SVC_AUDIT_ANCHOR: ${this.path} ${why}`);
  }
}

/** The last byte of a file, or a line feed if the file is empty. */
async function lastByte(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  if (size === 0) return newline;
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, size - 1);
  return byte[0] ?? newline;
}
