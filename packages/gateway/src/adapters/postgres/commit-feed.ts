import type { ChainHead, Commit } from '@reeve/core';
import { emptyChain, parseCommit } from '@reeve/core';
import type { SqlSession } from '../sql/sql-database.ts';

/** A commit as the database keeps it, and as gateways send it to each other. */
export interface KeptCommit extends ChainHead {
  readonly version: number;
  readonly gateway: string;
  readonly told: string;
}

/**
 * The commits that this gateway has missed are not there: it was away for too long, or the database was set back. A
 * start reads everything anew.
 */
export class FellBehind extends Error {
  constructor(version: number) {
    super(`the database does not go on from commit ${version}, up to which this gateway knows it; start it again`);
    this.name = 'FellBehind';
  }
}

export const commitColumns = 'version, gateway, seq, hash, told';
const page = 200;
/** What has arrived too early waits for what comes before it. Beyond this it is read from the database. */
const mostWaiting = 1000;
const mostCharacters = 64 * 1024 * 1024;

/**
 * The commits of all gateways, in order. It knows the number of the newest commit that this gateway has followed or
 * made. Commits arrive early from other gateways, or are read from the database. Each is handed out once.
 */
export class CommitFeed {
  readonly #sql: Pick<SqlSession, 'all'>;
  readonly #gateway: string;
  readonly #onFellBehind: (error: FellBehind) => void;
  readonly #waiting = new Map<number, KeptCommit>();
  /** The length of what waits. */
  #characters = 0;
  #version = 0;
  #head: ChainHead = emptyChain;

  constructor(sql: Pick<SqlSession, 'all'>, gateway: string, onFellBehind: (error: FellBehind) => void) {
    this.#sql = sql;
    this.#gateway = gateway;
    this.#onFellBehind = onFellBehind;
  }

  get version(): number {
    return this.#version;
  }

  /** The newest entry of the log, as of that commit. */
  get head(): ChainHead {
    return this.#head;
  }

  /** Memory holds everything up to this commit. */
  start(version: number, head: ChainHead): void {
    this.#version = version;
    this.#head = head;
  }

  /** This gateway has made the next commit, which ends with this entry, if it has any. */
  made(last: ChainHead | undefined): void {
    this.#forget(++this.#version);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
  }

  /** Another gateway says that it has made a commit. */
  receive(commit: KeptCommit): void {
    if (commit.version <= this.#version || commit.gateway === this.#gateway) return;
    const characters = this.#characters + commit.told.length;
    if (this.#waiting.size >= mostWaiting || characters > mostCharacters) return;
    this.#forget(commit.version);
    this.#waiting.set(commit.version, commit);
    this.#characters += commit.told.length;
  }

  ready(): Commit[] {
    const commits: KeptCommit[] = [];
    for (let next = this.#waiting.get(this.#version + 1); next !== undefined; ) {
      commits.push(next);
      next = this.#waiting.get(next.version + 1);
    }
    return this.handOut(commits);
  }

  /** All of them or, if the database fails in the middle, none: what was handed out would be taken for followed. */
  async read(): Promise<readonly Commit[]> {
    const found: KeptCommit[] = [];
    for (;;) {
      const rows = await this.#sql.all(
        `SELECT ${commitColumns} FROM commits WHERE version > ? ORDER BY version LIMIT ${page}`,
        found.at(-1)?.version ?? this.#version,
      );
      found.push(...(rows as unknown as KeptCommit[]));
      if (rows.length < page) return this.handOut(found);
    }
  }

  /** Hands out commits that follow one another, up to the newest one, if its number is known. */
  handOut(found: readonly KeptCommit[], newest?: number): Commit[] {
    // Some may have arrived from the other gateway while they were read.
    const commits = found.filter(({ version }) => version > this.#version);
    const first = commits[0];
    const last = commits.at(-1)?.version ?? this.#version;
    if ((first !== undefined && first.version !== this.#version + 1) || (newest !== undefined && last !== newest)) {
      const error = new FellBehind(this.#version);
      this.#onFellBehind(error);
      throw error;
    }
    // Read first: what cannot be read must not count as known.
    const read = commits.map(({ seq, hash, told }) => ({ head: { seq, hash }, ...parseCommit(told) }));
    for (const { version, seq, hash } of commits) {
      this.#forget(version);
      this.#version = version;
      this.#head = { seq, hash };
    }
    for (const version of this.#waiting.keys()) if (version <= this.#version) this.#forget(version);
    return read;
  }

  #forget(version: number): void {
    this.#characters -= this.#waiting.get(version)?.told.length ?? 0;
    this.#waiting.delete(version);
  }
}
