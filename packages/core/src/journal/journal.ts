import type { ChainHead } from '../audit/index.ts';
import type { Batch, JournalOf, JournalPorts } from './journal-ports.ts';
import type { Typed } from './meaning.ts';
import { followCommits } from './overtaken.ts';
import type { ForeignCommit, Sharing } from './shared-log.ts';
import { eventsOf, HeadMoved } from './shared-log.ts';
import type { Tick } from './tick.ts';
import { batchOf, nothingToWrite, rejectAll, stampAll, writesNothing } from './tick.ts';
import { Turns } from './turns.ts';

/**
 * The one way to durability. The journal gathers the facts and entries of one turn of the event loop, and commits them
 * together. Answers wait for that commit. If it fails, the journal takes back the facts, newest first, and the answers
 * fail. The next turn starts from the last durable state.
 *
 * One commit is in flight at a time. What happens meanwhile is the next turn. It builds on the commit in flight, so the
 * journal takes back both if that commit fails.
 *
 * Where other gateways write to the same log, a commit succeeds only on top of all commits before it. The journal first
 * applies the missing ones. It takes back its own turns that rest on what those changed, and runs them again.
 */
export class Journal<Change, Event extends Typed> extends Turns<Change, Event> implements JournalOf<Change, Event> {
  readonly #ports: JournalPorts<Change, Event>;
  readonly #sharing: Sharing<Change, Event> | undefined;
  #head: ChainHead;
  /** Reads or prepares commits of others. Nothing is committed meanwhile. */
  #reading: Promise<void> | undefined;
  #followed = 0;
  #repeated = 0;
  #failed = 0;
  #isHeld = false;
  /** The commits that come next are here, and not applied yet. Later arrivals come after them. */
  #isOvertaken = false;
  #closed = false;

  constructor(ports: JournalPorts<Change, Event>, head: ChainHead) {
    super(ports.sharing !== undefined, ports);
    this.#ports = ports;
    this.#sharing = ports.sharing;
    this.#head = head;
  }

  /** The newest durable entry. */
  get head(): ChainHead {
    return this.#head;
  }

  /** Whether other gateways write to the same log. */
  get isShared(): boolean {
    return this.#sharing !== undefined;
  }

  /** How many commits of other gateways this one has followed. */
  get followed(): number {
    return this.#followed;
  }

  /** How many turns were done again, because another gateway was first. */
  get repeated(): number {
    return this.#repeated;
  }

  protected get takenBack(): number {
    return this.#failed + this.#repeated;
  }

  /** Resolves in the next turn of the event loop, so that others run in between. */
  nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#ports.soon(resolve));
  }

  /** Waits until memory knows all that any gateway had committed before. False if the store cannot be asked. */
  async catchUp(): Promise<boolean> {
    if (this.#sharing === undefined) return true;
    // A commit or a read that has begun already may miss what was committed since.
    await this.#settled(this.inFlight?.committed ?? this.#reading);
    for (;;) {
      const next = this.inFlight ?? this.tick;
      if (next === undefined) return await this.#settled(this.#reading ?? this.#read());
      if (!(await this.#settled(next.committed))) return false;
      // A commit of nothing asks nobody whether there is something newer.
      if (!writesNothing(next)) return true;
    }
  }

  async #settled(work: Promise<void> | undefined): Promise<boolean> {
    try {
      await work;
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Follows the commits of other gateways that have arrived. This also runs while a commit is under way. The store then
   * refuses that commit, and there is less to follow.
   */
  followReady(): void {
    if (this.#sharing === undefined || this.#isHeld || this.#isOvertaken || this.#reading !== undefined) return;
    const commits = this.#sharing.ready();
    if (commits.length === 0) return;
    if (this.#sharing.prepare(commits) === undefined) this.#follow(this.#sharing, commits);
    else void this.#take(Promise.resolve(commits));
  }

  #read(): Promise<void> {
    const { sharing } = this.#ports;
    return sharing === undefined ? Promise.resolve() : this.#take(sharing.read());
  }

  /** Follows commits that have yet to arrive. */
  #take(arriving: Promise<readonly ForeignCommit<Change, Event>[]>, isLocked = false): Promise<void> {
    this.#reading = this.#followAll(arriving, isLocked).finally(() => {
      this.#reading = undefined;
      this.followReady();
      this.flush();
    });
    this.#reading.catch(() => undefined);
    return this.#reading;
  }

  async #followAll(arriving: Promise<readonly ForeignCommit<Change, Event>[]>, isLocked: boolean): Promise<void> {
    const commits = await arriving;
    const sharing = this.#sharing;
    if (sharing === undefined || commits.length === 0) return;
    const preparing = sharing.prepare(commits);
    if (preparing !== undefined && isLocked) await this.#letGo();
    await preparing;
    this.#follow(sharing, commits);
  }

  /** Others go on: an empty batch lets go of the log. */
  async #letGo(): Promise<void> {
    await this.#settled(this.#ports.commit(nothingToWrite) ?? undefined);
  }

  protected begun(): void {
    this.#ports.soon(() => this.flush());
  }

  /** Commits and follows nothing until the returned function is called. Meanwhile a start restores memory. */
  hold(): () => void {
    this.#isHeld = true;
    return () => {
      this.#isHeld = false;
      this.flush();
    };
  }

  /** Commits this turn now, or as soon as the commit in flight has settled. */
  flush(): void {
    if (this.inFlight !== undefined || this.#reading !== undefined || this.#isHeld) return;
    const tick = this.tick;
    if (tick === undefined) return;
    const locking = this.#closed ? undefined : this.#sharing?.lock();
    if (locking !== undefined) {
      void this.#take(this.#locked(locking), true);
      return;
    }
    this.tick = undefined;
    if (this.#closed) rejectAll([tick], new Error('the journal is closed'));
    else this.#commit(tick);
  }

  /** Work that arrives before the log is locked joins the commit. If the log cannot be locked, all of it fails. */
  async #locked(
    locking: Promise<readonly ForeignCommit<Change, Event>[]>,
  ): Promise<readonly ForeignCommit<Change, Event>[]> {
    try {
      return await locking;
    } catch (error) {
      const { tick } = this;
      this.tick = undefined;
      if (tick !== undefined) this.#takeBackAll(tick, error);
      throw error;
    }
  }

  /**
   * Commits everything, and resolves when nothing is in flight. Later work is taken back without asking the store,
   * which may be closed.
   */
  async close(): Promise<void> {
    while (this.tick !== undefined || this.inFlight !== undefined || this.#reading !== undefined) {
      this.flush();
      await this.#settled(this.#reading ?? this.committed());
    }
    this.#closed = true;
  }

  #commit(tick: Tick<Change, Event>): void {
    let batch: Batch<Change, Event>;
    let durable: void | Promise<void>;
    try {
      batch = batchOf(tick, this.#head, this.#ports);
      durable = this.#ports.commit(batch);
    } catch (error) {
      this.#takeBackAll(tick, error);
      return;
    }
    if (durable === undefined) this.#settle(tick, batch);
    else this.#await(tick, batch, durable);
  }

  #await(tick: Tick<Change, Event>, batch: Batch<Change, Event>, durable: Promise<void>): void {
    this.inFlight = tick;
    durable
      .then(
        () => {
          this.inFlight = undefined;
          this.#settle(tick, batch);
        },
        async (error: unknown) => {
          if (error instanceof HeadMoved) {
            await this.#commitAfter(error.commits as readonly ForeignCommit<Change, Event>[], tick);
            return;
          }
          this.inFlight = undefined;
          this.#takeBackAll(tick, error);
        },
      )
      .finally(() => {
        this.followReady();
        this.flush();
      });
  }

  /** Follows the commits of others, and commits what still stands after them. */
  async #commitAfter(commits: readonly ForeignCommit<Change, Event>[], tick: Tick<Change, Event>): Promise<void> {
    const sharing = this.#sharing;
    this.#isOvertaken = true;
    try {
      if (sharing === undefined) throw new Error('the log has another writer');
      // What arrived before these comes first.
      const waits = [this.#reading, sharing.prepare(commits)].filter((wait) => wait !== undefined);
      // Others must not wait for it.
      if (waits.length > 0) waits.push(this.#letGo());
      await Promise.all(waits.map((wait) => this.#settled(wait)));
      this.#follow(sharing, commits);
    } catch (error) {
      this.inFlight = undefined;
      this.#takeBackAll(tick, error);
      return;
    } finally {
      this.#isOvertaken = false;
    }
    this.inFlight = undefined;
    this.#commit(tick);
  }

  /** If memory cannot follow, it differs from the log. Then nothing is committed any more. */
  #follow(sharing: Sharing<Change, Event>, commits: readonly ForeignCommit<Change, Event>[]): void {
    try {
      const ticks = () => [this.inFlight, this.tick].filter((tick) => tick !== undefined);
      const onFollowed = (commit: ForeignCommit<Change, Event>) => {
        this.#head = commit.head;
        this.#ports.publish(eventsOf(commit), true);
        return ++this.#followed;
      };
      this.#repeated += followCommits({ sharing, facts: this.#ports, ticks, onFollowed }, commits);
    } catch (error) {
      this.#closed = true;
      sharing.failed(error);
      throw error;
    }
  }

  #settle(tick: Tick<Change, Event>, { entries, told }: Batch<Change, Event>): void {
    const last = entries.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    stampAll(tick, entries);
    this.#ports.onCommit(undefined);
    this.#ports.publish(told?.events ?? [], false);
    for (const { afterwards } of tick.parts) for (const work of afterwards) this.#attempt(work);
    tick.resolve();
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#ports.onError(error);
    }
  }

  /** Work gathered on top of a failed commit fails with it, and is taken back first. */
  #takeBackAll(tick: Tick<Change, Event>, error: unknown): void {
    const above = this.tick;
    this.tick = undefined;
    this.#failed++;
    try {
      rejectAll(above === undefined ? [tick] : [above, tick], error);
    } finally {
      this.#ports.onCommit(error);
    }
  }
}
