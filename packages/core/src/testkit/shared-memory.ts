import type { Batch, Commit, Store } from '../store.ts';
import { HeadMoved } from '../journal/shared-log.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { commitText, parseCommit } from '../replication/commit-text.ts';

/** A commit in the log, as text: members share no objects. */
interface Kept {
  readonly head: Commit['head'];
  readonly text: string;
}

/** One log in memory that several governances write, as gateways on one database do. Nothing moves by itself. */
export class SharedMemory {
  readonly store: MemoryStore;
  /** The newest entry that was there before the first commit. */
  readonly #from: Commit['head'];
  readonly #commits: Kept[] = [];
  /** Work that the store has been asked for, in order of arrival. */
  readonly #asked: (() => void)[] = [];
  /** Who has locked the log. Nobody else writes meanwhile. */
  #holder: object | undefined;
  /** While set, nothing can be written or read. */
  outage: Error | undefined;

  constructor(store = new MemoryStore(), from = { seq: 0, hash: '0'.repeat(64) }) {
    this.store = store;
    this.#from = from;
  }

  get waiting(): number {
    return this.#asked.length;
  }

  get version(): number {
    return this.#commits.length;
  }

  /** The store does the nth thing that it has been asked for. */
  work(nth = 0): void {
    this.#asked.splice(nth, 1)[0]?.();
  }

  join(): SharedMember {
    const { store } = this;
    const me = {};
    let version = this.version;
    /** For so many more commits, others are expected to be first. */
    let contended = 0;
    const after = (): Commit[] => {
      const commits = this.#commits.slice(version).map(({ head, text }) => ({ head, ...parseCommit(text) }));
      version = this.version;
      return commits;
    };
    const ask = <Result>(work: () => Result, writes: boolean): Promise<Result> =>
      new Promise((resolve, reject) => {
        const answer = () => {
          try {
            if (this.outage !== undefined) throw this.outage;
            if (writes && this.#holder !== undefined && this.#holder !== me) this.#asked.push(answer);
            else resolve(work());
          } catch (error) {
            if (this.#holder === me) this.#holder = undefined;
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        this.#asked.push(answer);
      });
    return {
      store,
      commit: (batch) => {
        const onto = version;
        return ask(() => {
          this.#holder = undefined;
          if (onto !== this.version) {
            contended = 3;
            throw new HeadMoved(after());
          }
          const { told = { steps: [], touched: { agents: [], orgs: [], everything: false } } } = batch;
          if (batch.entries.length + batch.changes.length + told.steps.length === 0) return;
          store.commit(batch);
          const last = batch.entries.at(-1);
          const head = last ?? this.#commits.at(-1)?.head ?? this.#from;
          this.#commits.push({ head: { seq: head.seq, hash: head.hash }, text: commitText(told) });
          version = this.version;
        }, true);
      },
      ready: () => after(),
      read: () => ask(after, false),
      lock: () => {
        if (contended === 0 || this.#holder === me) return undefined;
        contended--;
        return ask(() => {
          this.#holder = me;
          return after();
        }, true);
      },
    };
  }
}

/** The log as one governance sees it. */
export interface SharedMember {
  readonly store: Store;
  readonly commit: (batch: Batch) => Promise<void>;
  readonly ready: () => readonly Commit[];
  readonly read: () => Promise<readonly Commit[]>;
  readonly lock: () => Promise<readonly Commit[]> | undefined;
}
