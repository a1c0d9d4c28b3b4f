import type { ChainHead, Commit, Interned, Touched } from '@reeve/core';
import { emptyChain, parseCommit } from '@reeve/core';
import type { SqlSession } from '../sql/sql-database.ts';
import { FellBehind } from './fell-behind.ts';
import type { LogHead, NotedCommit, Standing } from './standing.ts';
import { commitsQuestion, headQuestion, requireStanding } from './standing.ts';
import { touchedByEntries } from './touched-by-entries.ts';

/** A commit as the database keeps it. `gateway` is its name: who made it, and by which try. */
export interface KeptCommit extends NotedCommit {
  /** Its facts as text. */
  readonly facts: string;
}

/** A commit as gateways send it to each other. */
export interface SentCommit extends KeptCommit {
  /** The name of the commit before it. Absent if an older release sends it. */
  readonly before?: string | null;
}

interface ReadCommit {
  readonly kept: KeptCommit;
  readonly commit: Commit;
}

const page = 200;
/** What has arrived too early waits for what comes before it. Beyond this it is read from the database. */
const mostWaiting = 1000;
const mostCharacters = 64 * 1024 * 1024;

/**
 * The commits of all gateways, in order. It knows the newest commit that this gateway has followed or made. Commits
 * arrive early from other gateways, or are read from the database. Each is handed out once, and only on top of the very
 * commit that it was made on.
 */
export class CommitFeed {
  readonly #sql: Pick<SqlSession, 'all'>;
  readonly #gateway: string;
  readonly #onFellBehind: (error: FellBehind) => void;
  readonly #waiting = new Map<number, SentCommit>();
  /** The length of what waits. */
  #characters = 0;
  #standing: Standing = { ...emptyChain, version: 0, name: null };
  #interned: Interned | undefined;
  #followedAt = Number.NEGATIVE_INFINITY;
  /** Set once the log does not go on from there. Nothing is handed out any more. */
  #lost: FellBehind | undefined;

  constructor(sql: Pick<SqlSession, 'all'>, gateway: string, onFellBehind: (error: FellBehind) => void) {
    this.#sql = sql;
    this.#gateway = gateway;
    this.#onFellBehind = onFellBehind;
  }

  get version(): number {
    return this.#standing.version;
  }

  /** When a commit of another gateway was handed out last, on the monotonic clock. */
  get followedAt(): number {
    return this.#followedAt;
  }

  /** The commit that memory stands on. Throws if the log has turned out not to go on from it. */
  get standing(): Standing {
    if (this.#lost !== undefined) throw this.#lost;
    return this.#standing;
  }

  /** Commits are read with what memory knows already. */
  know(interned: Interned): void {
    this.#interned = interned;
  }

  /** Memory holds everything up to this commit. */
  start(standing: Standing): void {
    this.#standing = standing;
  }

  /** This gateway has made the next commit, which ends with this entry, if it has any. */
  made(name: string, last: ChainHead | undefined): void {
    const { seq, hash } = last ?? this.#standing;
    this.#moveTo({ version: this.version + 1, name, seq, hash });
  }

  /** Another gateway says that it has made a commit. Returns false if only the database can tell what to make of it. */
  receive(commit: SentCommit): boolean {
    if (commit.gateway.startsWith(`${this.#gateway}/`)) return true;
    if (commit.version <= this.version) return commit.version < this.version || commit.gateway === this.#standing.name;
    if (commit.before === undefined) return false;
    const characters = this.#characters + commit.facts.length;
    if (this.#waiting.size >= mostWaiting || characters > mostCharacters) return false;
    this.#forget(commit.version);
    this.#waiting.set(commit.version, commit);
    this.#characters += commit.facts.length;
    return true;
  }

  /** What has arrived and comes next. Anything that only the database can explain is left to be read. */
  ready(): Commit[] {
    if (this.#lost !== undefined) return [];
    const found: ReadCommit[] = [];
    let { version, name } = this.#standing;
    for (let next = this.#waiting.get(version + 1); next !== undefined; next = this.#waiting.get(version + 1)) {
      const read = this.#readCommit(next);
      if (next.before !== name || isUnattributed(read)) {
        this.#forget(next.version);
        break;
      }
      found.push(read);
      ({ version, gateway: name } = next);
    }
    return this.#handOut(found);
  }

  /** All of them or, if the database fails in the middle, none: what was handed out would be taken for followed. */
  async read(): Promise<readonly Commit[]> {
    const { standing } = this;
    const found: KeptCommit[] = [];
    for (;;) {
      const from = found.at(-1)?.version;
      const sql = `${commitsQuestion('?', '?')} LIMIT ${page}`;
      const rows = await this.#sql.all(sql, standing.version, from === undefined ? standing.version : from + 1);
      found.push(...(rows as unknown as KeptCommit[]));
      if (rows.length < page) break;
    }
    if (found[0]?.version !== standing.version || !isNoted(standing, found[0])) {
      this.require(standing, await this.#headOfLog(), found[0]);
    }
    return this.handOut(found);
  }

  /** Throws unless the log goes on from the commit that memory stands on. */
  async verify(): Promise<void> {
    const { standing } = this;
    const [noted] = await this.#sql.all(`${commitsQuestion('?', '?')} LIMIT 1`, standing.version, standing.version);
    this.require(standing, await this.#headOfLog(), noted as unknown as NotedCommit | undefined);
  }

  /** The same with what the database says of the commit that memory stood on, and of its own head, at one moment. */
  require(standing: Standing, head: LogHead, noted: NotedCommit | undefined): void {
    const isThere = this.#orLost(() => requireStanding(standing, head, noted));
    if (this.version !== standing.version) return;
    this.#standing = { ...this.#standing, name: isThere ? (noted?.gateway ?? null) : null };
  }

  /** Hands out commits that follow one another, up to the newest one, if its number is known. */
  async handOut(found: readonly KeptCommit[], newest?: number): Promise<readonly Commit[]> {
    const read = found.filter(({ version }) => version > this.version).map((kept) => this.#readCommit(kept));
    const whole: ReadCommit[] = [];
    let { seq } = this.#standing;
    for (const each of read) {
      whole.push(isUnattributed(each) ? await this.#attributed(each, seq) : each);
      ({ seq } = each.kept);
    }
    return this.#handOut(whole, newest);
  }

  #handOut(found: readonly ReadCommit[], newest?: number): Commit[] {
    // Some may have arrived from the other gateway while they were read.
    const commits = found.filter(({ kept }) => kept.version > this.version);
    const first = commits[0]?.kept.version ?? this.version + 1;
    const last = commits.at(-1)?.kept.version ?? this.version;
    this.#orLost(() => {
      if (first === this.version + 1 && (newest === undefined || last === newest)) return;
      throw new FellBehind(this.version, 'it has forgotten what comes next');
    });
    if (commits.length > 0) this.#followedAt = performance.now();
    for (const { kept } of commits) this.#moveTo({ ...headOf(kept), version: kept.version, name: kept.gateway });
    return commits.map(({ commit }) => commit);
  }

  /** The text of a commit cannot be read. The entries that it wrote say whose state it has changed. */
  async #attributed({ kept, commit }: ReadCommit, after: number): Promise<ReadCommit> {
    const touched: Touched = await touchedByEntries(this.#sql, after, kept.seq);
    return { kept, commit: { ...commit, unread: commit.unread.map(({ why }) => ({ why, touched })) } };
  }

  #readCommit(kept: KeptCommit): ReadCommit {
    return { kept, commit: { head: headOf(kept), ...parseCommit(kept.facts, this.#interned) } };
  }

  async #headOfLog(): Promise<LogHead> {
    const [head] = await this.#sql.all(headQuestion);
    return head as unknown as LogHead;
  }

  #orLost<Result>(check: () => Result): Result {
    try {
      return check();
    } catch (error) {
      if (error instanceof FellBehind) {
        this.#lost = error;
        this.#onFellBehind(error);
      }
      throw error;
    }
  }

  #moveTo(standing: Standing): void {
    this.#standing = standing;
    for (const version of this.#waiting.keys()) if (version <= standing.version) this.#forget(version);
  }

  #forget(version: number): void {
    this.#characters -= this.#waiting.get(version)?.facts.length ?? 0;
    this.#waiting.delete(version);
  }
}

function headOf({ seq, hash }: ChainHead): ChainHead {
  return { seq, hash };
}

function isUnattributed({ commit }: ReadCommit): boolean {
  return commit.unread.some(({ touched }) => touched === null);
}

/** The usual case: the very commit is there, and whatever comes next comes after it. */
function isNoted({ name, seq, hash }: Standing, noted: NotedCommit): boolean {
  return noted.gateway === name && noted.seq === seq && noted.hash === hash;
}
