import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StoredEntry } from '@reeve/core';
import { entryJson } from '@reeve/core';
import type { Sink } from '../../forwarding/sink.ts';
import { SinkError } from '../../forwarding/sink.ts';
import { encodeAll } from './entry-facts.ts';
import { mendLastLine } from './mend-last-line.ts';

/** Appends entries to a file as JSON lines, each batch synced to the disk. */
export class FileSink implements Sink {
  readonly unconfirmed = { entries: 0, ms: 0 };
  readonly #path: string;
  #file: FileHandle | undefined;
  #mustReopen = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** The next batch goes to the file that then has the name: for tools that rename log files. */
  reopen(): void {
    this.#mustReopen = true;
  }

  async send(entries: readonly StoredEntry[]): Promise<void> {
    const lines = await encodeAll(entries, (entry) => `${entryJson(entry)}\n`);
    if (this.#mustReopen) await this.reset();
    this.#mustReopen = false;
    this.#file ??= await this.#open();
    const { size } = await this.#file.stat();
    try {
      await this.#file.appendFile(lines.join(''));
      await this.#file.datasync();
    } catch (error) {
      // A full disk may have taken a part. If it cannot be taken back now, the next opening does it.
      await this.#file.truncate(size).catch(() => undefined);
      throw error;
    }
  }

  /** What was synced is there. */
  async confirm(): Promise<void> {
    return Promise.resolve();
  }

  async reset(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    const file = await open(this.#path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) throw new SinkError('it is no regular file');
      if (stat.size === 0) await syncFolder(dirname(this.#path));
      else await mendLastLine(file, stat.size);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

/** The name of a new file survives a power failure only with its folder. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
