import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { AuditPage, AuditQuery, AuditReader } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import type { ReaderAnswer, ReaderCall } from './audit-reader-worker.ts';

type Request<Call extends ReaderCall = ReaderCall> = Call extends ReaderCall ? Omit<Call, 'id'> : never;

/** The log of the embedded store, read in another thread. */
export class AuditReaderThread implements AuditReader {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: unknown) => void }>();
  #calls = 0;
  #closing = false;

  constructor(storePath: string, indexPath: string, everyMs = 200) {
    const workerData = { storePath, indexPath, everyMs };
    this.#worker = new Worker(new URL('audit-reader-worker.ts', import.meta.url), { workerData });
    this.#worker.unref();
    this.#worker.on('message', ({ id, result, error }: ReaderAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new ReeveError('store_unavailable', `the audit log cannot be read: ${error}`));
      if (this.#waiting.size === 0 && !this.#closing) this.#worker.unref();
    });
    this.#worker.on('error', (error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  async latest(query: AuditQuery): Promise<AuditPage> {
    return (await this.#call({ method: 'read', query, newestFirst: true })) as AuditPage;
  }

  async oldest(query: AuditQuery): Promise<AuditPage> {
    return (await this.#call({ method: 'read', query, newestFirst: false })) as AuditPage;
  }

  /** How many entries the indexes are behind. */
  async lag(): Promise<number> {
    return (await this.#call({ method: 'lag' })) as number;
  }

  async close(): Promise<void> {
    this.#closing = true;
    const ended = once(this.#worker, 'exit');
    await this.#call({ method: 'close' });
    await ended;
  }

  #call(request: Request): Promise<unknown> {
    const id = ++this.#calls;
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ ...request, id });
    });
  }
}
