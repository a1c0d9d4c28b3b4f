import type { Worker } from 'node:worker_threads';
import type { AuditPage, AuditQuery, AuditReader, PeoplePage, PeopleQuery, PeopleReader } from '@reeve/core';
import type { UserRunsPage, UserRunsQuery } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import { startThread } from '../system/start-thread.ts';
import type { FromReader, ReaderCall, ReaderData } from './audit-reader-worker.ts';
import type { PackedBlock } from './log-block.ts';
import type { Packing } from './pack-oldest.ts';
import { packing as defaultPacking } from './pack-oldest.ts';
import type { WalReader } from './wal-checkpointer.ts';

/** The store, which alone writes to its file. */
export interface BlockStore {
  /** Puts a block in the place of its rows. Returns why that is not possible now, if it is not. */
  pack(block: PackedBlock): string | undefined;
}

export interface ReaderOptions extends Partial<Packing> {
  /** How often new entries are indexed, and old ones packed. */
  readonly everyMs?: number;
  /** Without it, nothing is packed. */
  readonly packsInto?: BlockStore;
  /** Told when the log can no longer be indexed and packed, with why, and when it can again: undefined. */
  readonly onTrouble?: (why: string | undefined) => void;
}

/** How long to wait before a lost thread is replaced, if nobody asks before. */
const againMs = 1000;
/** So many attempts in a row fail before anybody is told: some do while commits wait, or somebody else writes. */
const toldAfter = 20;

type Request<Call extends ReaderCall = ReaderCall> = Call extends ReaderCall ? Omit<Call, 'id'> : never;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The log of the embedded store, read in another thread. If the thread ends, for example for lack of memory or disk, it
 * fails its open questions. The next question starts another thread, or the next moment does, so that packing goes on.
 */
export class AuditReaderThread implements AuditReader, PeopleReader, WalReader {
  readonly #workerData: ReaderData;
  readonly #writer: BlockStore | undefined;
  readonly #onTrouble: ReaderOptions['onTrouble'];
  /** How many attempts to index and pack have failed in a row. */
  #failed = 0;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #calls = 0;
  /** Resolves when further questions may be asked. */
  #rest: Promise<void> | undefined;
  #closing = false;

  constructor(storePath: string, indexPath: string, options: ReaderOptions = {}) {
    const { everyMs = 500, packsInto, onTrouble, ...packing } = options;
    const packs = packsInto === undefined ? undefined : { ...defaultPacking, ...packing };
    this.#workerData = { storePath, indexPath, everyMs, packing: packs };
    this.#writer = packsInto;
    this.#onTrouble = onTrouble;
  }

  /** From now on, the log is indexed and packed. Whoever asks before starts the thread, too. */
  begin(): void {
    this.#worker ??= this.#start();
  }

  async latest(query: AuditQuery): Promise<AuditPage> {
    return (await this.#call({ method: 'read', query, newestFirst: true })) as AuditPage;
  }

  async oldest(query: AuditQuery): Promise<AuditPage> {
    return (await this.#call({ method: 'read', query, newestFirst: false })) as AuditPage;
  }

  async people(query: PeopleQuery): Promise<PeoplePage> {
    return (await this.#call({ method: 'people', query })) as PeoplePage;
  }

  async runsOfUser(query: UserRunsQuery): Promise<UserRunsPage> {
    return (await this.#call({ method: 'runsOfUser', query })) as UserRunsPage;
  }

  /** How many entries the indexes are behind. */
  async lag(): Promise<number> {
    return (await this.#call({ method: 'lag' })) as number;
  }

  /** How many entries are old enough to be packed, and are rows. */
  async unpacked(): Promise<number> {
    return (await this.#call({ method: 'unpacked' })) as number;
  }

  /** The thread answers one question after the other, so once it has said that it rests, it reads nothing. */
  rest(): { readonly idle: Promise<void>; goOn(): void } {
    const over = Promise.withResolvers<void>();
    this.#rest = over.promise;
    const idle = this.#ask({ method: 'rest' }).then(
      () => undefined,
      () => undefined,
    );
    const goOn = () => {
      if (this.#rest === over.promise) this.#rest = undefined;
      over.resolve();
      this.#ask({ method: 'wake' }).catch(() => undefined);
    };
    return { idle, goOn };
  }

  async close(): Promise<void> {
    this.#closing = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    // A thread that is already lost, for example on a full disk, counts as closed.
    await this.#call({ method: 'close' }).catch(() => undefined);
    await ended;
  }

  #start(): Worker {
    const worker = startThread(new URL('audit-reader-worker.ts', import.meta.url), this.#workerData);
    worker.unref();
    worker.on('message', (message: FromReader) => {
      if ('block' in message) {
        worker.postMessage({ id: 0, method: 'packed', isDone: this.#pack(message.block) } satisfies ReaderCall);
        return;
      }
      if ('trouble' in message) {
        this.#tried(message.trouble ?? undefined);
        return;
      }
      const { id, result, error } = message;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(unreadable(error));
      if (this.#waiting.size === 0 && !this.#closing) worker.unref();
    });
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', () => this.#lost(worker, 'its reader has ended'));
    return worker;
  }

  /** Between two turns of the thread that decides, and not while something has to wait. */
  #pack(block: PackedBlock): boolean {
    if (this.#closing || this.#rest !== undefined || this.#writer === undefined) return false;
    const refusal = this.#writer.pack(block);
    this.#tried(refusal);
    return refusal === undefined;
  }

  /** Notes an attempt to index and pack, with why it failed. */
  #tried(why: string | undefined): void {
    const before = this.#failed;
    this.#failed = why === undefined ? 0 : before + 1;
    if (why === undefined ? before >= toldAfter : this.#failed === toldAfter) this.#onTrouble?.(why);
  }

  #lost(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    if (!this.#closing) {
      this.#tried(why);
      setTimeout(() => {
        if (!this.#closing) this.#worker ??= this.#start();
      }, againMs).unref();
    }
    for (const { reject } of this.#waiting.values()) reject(unreadable(why));
    this.#waiting.clear();
  }

  async #call(request: Request): Promise<unknown> {
    while (this.#rest !== undefined && !this.#closing) await this.#rest;
    return await this.#ask(request);
  }

  #ask(request: Request): Promise<unknown> {
    const id = ++this.#calls;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ ...request, id });
    });
  }
}

function unreadable(why: string): ReeveError {
  return new ReeveError('store_unavailable', `the audit log cannot be read: ${why}`);
}
