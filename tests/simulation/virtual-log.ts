import type { AuditReader, Batch, Commit, MemoryStore } from '@reeve/core';
import { emptyChain, HeadMoved, parseCommit, ReeveError } from '@reeve/core';
import { Broken } from './broken.ts';
import type { Random } from './random.ts';
import type { LaterForms, Release } from './releases.ts';
import { asReadBy, asWritten, isUnknownTo, OutOfReach, StoreOfReleases, textOfRelease } from './releases.ts';
import type { Ground } from './virtual-gateway.ts';

type Told = NonNullable<Batch['told']>;

/** A commit in the log. Gateways get it as text, so that they share no objects. */
interface KeptCommit {
  readonly head: Commit['head'];
  readonly told: Told;
  readonly text: string;
}

/** Something that a gateway has asked the database for, and that has not happened yet. */
interface Ask {
  readonly by: VirtualMember;
  readonly writes: boolean;
  readonly isCommit: boolean;
  /** Does it, and answers. */
  readonly work: () => void;
  readonly fail: (error: Error) => void;
}

/** A word of one gateway to another that it has made a commit. */
interface Message {
  readonly to: VirtualMember;
  readonly version: number;
}

/** Called with each commit, and who made it. */
type OnWritten = (batch: Batch, by: VirtualMember) => void;

/** What becomes of the next piece of work. */
export type Fate = 'done' | 'refused' | 'answer lost';

/**
 * The shared log as gateways see it: PostgreSQL behind its port, and NATS. Nothing moves by itself: each step of a
 * simulation lets the database do one thing, or lets one message arrive, arrive twice or get lost.
 */
export class VirtualLog {
  readonly store: MemoryStore = new StoreOfReleases();
  readonly commits: KeptCommit[] = [];
  /** How often a gateway could not read all of a commit. */
  unread = 0;
  readonly #asks: Ask[] = [];
  readonly #messages: Message[] = [];
  readonly #members = new Set<VirtualMember>();
  readonly #onWritten: OnWritten;
  readonly #random: Random;
  /** Newer releases write facts of these kinds in a form of theirs for now. */
  laterKinds: RegExp | undefined;
  readonly #laterForms: LaterForms;
  /** Who has locked the head of the log. Nobody else writes meanwhile. */
  #holder: VirtualMember | undefined;

  /** `random` draws in which form newer releases write. */
  constructor(onWritten: OnWritten, random: Random, laterForms: LaterForms = { kinds: 0, salt: 0, chance: 0 }) {
    this.#onWritten = onWritten;
    this.#random = random;
    this.#laterForms = laterForms;
  }

  get version(): number {
    return this.commits.length;
  }

  get waiting(): number {
    return this.#asks.length;
  }

  get underWay(): number {
    return this.#messages.length;
  }

  join(release: Release): VirtualMember {
    const member = new VirtualMember(this, this.version, release);
    this.#members.add(member);
    return member;
  }

  /** A gateway has ended. What it had sent may still be done, and nobody hears of it. */
  leave(member: VirtualMember, random: Random): void {
    this.#members.delete(member);
    for (const ask of this.#asks.filter(({ by }) => by === member)) {
      if (ask.isCommit && this.#isFree(member) && random.chance(0.5)) ask.work();
      this.#remove(this.#asks, ask);
    }
    if (this.#holder === member) this.#holder = undefined;
    for (const message of this.#messages.filter(({ to }) => to === member)) this.#remove(this.#messages, message);
  }

  isAsking(member: VirtualMember): boolean {
    return this.#asks.some(({ by }) => by === member);
  }

  /** The database does the nth thing that it was asked for. Returns who is left in doubt, if the answer is lost. */
  work(nth: number, fate: Fate): VirtualMember | undefined {
    const ask = this.#asks[nth];
    if (ask === undefined || (ask.writes && !this.#isFree(ask.by))) return undefined;
    this.#remove(this.#asks, ask);
    if (fate === 'refused') {
      if (this.#holder === ask.by) this.#holder = undefined;
      ask.fail(new Error('the database cannot be reached'));
      return undefined;
    }
    if (fate === 'answer lost' && ask.isCommit) {
      this.#members.delete(ask.by);
      ask.work();
      return ask.by;
    }
    ask.work();
    return undefined;
  }

  /** The database does the next thing that this gateway waits for. Returns whether there was one that could be done. */
  workFor(member: VirtualMember, fate: 'done' | 'refused', kinds: 'reads' | 'all' = 'all'): boolean {
    const isNext = (ask: Ask) => ask.by === member && (kinds === 'all' || !ask.writes);
    const nth = this.#asks.findIndex((ask) => isNext(ask) && (!ask.writes || this.#isFree(member)));
    if (nth >= 0) this.work(nth, fate);
    return nth >= 0;
  }

  /** The nth message arrives. It may arrive again. */
  deliver(nth: number, isRepeated: boolean): VirtualMember | undefined {
    const message = this.#messages[nth];
    if (message === undefined) return undefined;
    if (!isRepeated) this.#messages.splice(nth, 1);
    message.to.hear(message.version);
    return message.to;
  }

  lose(nth: number): void {
    this.#messages.splice(nth, 1);
  }

  /** The server ends a transaction that does nothing for too long. */
  dropLock(): void {
    this.#holder = undefined;
  }

  /** Whoever has ended is not answered, and asks for nothing more. */
  ask<Result>(by: VirtualMember, kind: 'read' | 'lock' | 'commit', work: () => Result): Promise<Result> {
    const isThere = () => this.#members.has(by);
    return new Promise((resolve, reject) => {
      if (!isThere()) return;
      this.#asks.push({
        by,
        writes: kind !== 'read',
        isCommit: kind === 'commit',
        work: () => {
          try {
            const result = work();
            if (isThere()) resolve(result);
          } catch (error) {
            if (isThere()) reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
        fail: reject,
      });
    });
  }

  lock(by: VirtualMember): void {
    this.#holder = by;
  }

  isLockedBy(by: VirtualMember): boolean {
    return this.#holder === by;
  }

  write(by: VirtualMember, made: Batch): void {
    const forms = this.laterKinds === undefined ? this.#laterForms : { ...this.#laterForms, always: this.laterKinds };
    const batch = asWritten(by.release, made, this.#random, forms);
    const { told = nothingTold } = batch;
    this.#holder = undefined;
    this.store.commit(batch);
    const last = batch.entries.at(-1) ?? this.commits.at(-1)?.head ?? emptyChain;
    this.commits.push({ head: { seq: last.seq, hash: last.hash }, told, text: textOfRelease(told) });
    for (const to of this.#members) if (to !== by) this.#messages.push({ to, version: this.version });
    this.#onWritten(batch, by);
  }

  #isFree(member: VirtualMember): boolean {
    return this.#holder === undefined || this.#holder === member;
  }

  #remove<Item>(items: Item[], item: Item): void {
    items.splice(items.indexOf(item), 1);
  }
}

function isEmpty({ entries, changes, told = nothingTold }: Batch): boolean {
  return entries.length + changes.length + told.steps.length === 0;
}

const nothingTold = { events: [], steps: [], touched: { agents: [], orgs: [], everything: false } };
/** After another gateway was first, it will be again. */
const contendedFor = 3;

/** The log as one gateway sees it. */
export class VirtualMember implements Ground {
  /** A gateway that others write beside. */
  readonly sharing = this;
  readonly release: Release;
  /** Of whom it could not read everything. */
  readonly outOfReach = new OutOfReach();
  readonly #log: VirtualLog;
  /** The commit that memory stands on. */
  #version: number;
  readonly #heard = new Set<number>();
  #contended = 0;

  constructor(log: VirtualLog, version: number, release: Release) {
    this.#log = log;
    this.#version = version;
    this.release = release;
  }

  get version(): number {
    return this.#version;
  }

  get store(): MemoryStore {
    return this.#log.store;
  }

  readonly log: AuditReader = {
    latest: (query) => this.aside(() => this.store.latest(query)),
    oldest: (query) => this.aside(() => this.store.oldest(query)),
  };

  /** It takes some steps, and may fail. */
  async aside<Result>(work: () => Result): Promise<Awaited<Result>> {
    try {
      return await this.#log.ask(this, 'read', work);
    } catch {
      throw new ReeveError('store_unavailable', 'it takes too long');
    }
  }

  hear(version: number): void {
    if (version > this.#version) this.#heard.add(version);
  }

  /** What has arrived and comes next. */
  ready(): Commit[] {
    let through = this.#version;
    while (this.#heard.delete(through + 1)) through++;
    return this.#take(through);
  }

  read(): Promise<readonly Commit[]> {
    return this.#log.ask(this, 'read', () => this.#take(this.#log.version));
  }

  lock(): Promise<readonly Commit[]> | undefined {
    if (this.#contended === 0 || this.#log.isLockedBy(this)) return undefined;
    this.#contended--;
    return this.#log.ask(this, 'lock', () => {
      this.#log.lock(this);
      return this.#take(this.#log.version);
    });
  }

  commit(batch: Batch): Promise<void> {
    const onto = this.#version;
    return this.#log.ask(this, 'commit', () => {
      if (isEmpty(batch)) {
        if (this.#log.isLockedBy(this)) this.#log.dropLock();
        return;
      }
      if (onto !== this.#log.version) {
        this.#contended = contendedFor;
        if (this.#log.isLockedBy(this)) this.#log.dropLock();
        throw new HeadMoved(this.#take(this.#log.version));
      }
      this.#log.write(this, batch);
      this.#version = this.#log.version;
    });
  }

  #take(through: number): Commit[] {
    const commits = this.#log.commits.slice(this.#version, through).map((kept) => this.#read(kept));
    this.#version = Math.max(this.#version, through);
    return commits;
  }

  /** Whatever a release knows can be read, and nothing else. */
  #read({ head, told, text }: KeptCommit): Commit {
    const isAsWritten = this.release === 'present';
    const commit = { head, ...parseCommit(isAsWritten ? text : textOfRelease(asReadBy(this.release, told))) };
    if (commit.unread.length > 0 !== isUnknownTo(this.release, told)) {
      throw new Broken(`a ${this.release} release reads a commit as ${JSON.stringify(commit.unread)}`);
    }
    if (commit.unread.length > 0) {
      this.outOfReach.add(told.touched);
      this.#log.unread++;
    }
    return commit;
  }
}
