import type { EntryDraft } from '../audit/index.ts';
import type { Condition, Noting, Read } from './footprint.ts';
import type { Stamped } from './journal-ports.ts';
import type { Applying, FactPorts, Named, Typed, Undo } from './meaning.ts';
import type { Tick } from './tick.ts';
import { newTick, Part, unavailable } from './tick.ts';
import type { Warrant } from './warrant.ts';
import { holds, ownWork } from './warrant.ts';

/** Beyond this, others are always first, and what is read never comes to rest. */
const mostReadings = 100;

/** Gathers what callers do until it is committed. The journal makes it durable. */
export abstract class Turns<Change, Event extends Typed> implements Noting {
  readonly #isShared: boolean;
  readonly #facts: FactPorts<Change | Event>;
  readonly #here: Applying = {
    isHere: true,
    seq: Number.POSITIVE_INFINITY,
    onDurable: (effect) => this.onCommitted(effect),
  };
  /** What is gathered now. */
  protected tick: Tick<Change, Event> | undefined;
  /** What is being committed. */
  protected inFlight: Tick<Change, Event> | undefined;
  /** The part of the caller that acts at the moment. */
  #part: Part<Change, Event> | undefined;
  #isApplying = false;

  protected constructor(isShared: boolean, facts: FactPorts<Change | Event>) {
    this.#isShared = isShared;
    this.#facts = facts;
  }

  /** How many commits of other gateways this one has followed. */
  abstract get followed(): number;

  /** How often turns were taken back: they failed, or another gateway was first. */
  protected abstract get takenBack(): number;

  /** The first work of a tick has come: it must be committed. */
  protected abstract begun(): void;

  /** Whether memory knows everything that any gateway had committed before. */
  abstract catchUp(): Promise<boolean>;

  /**
   * Runs `act` at once, and answers once its facts are durable. A refusal waits, too. `act` never waits. It runs again if
   * another gateway has changed what it rests on; the last answer counts. Each run first asks the warrant: the credential
   * may have ended since it was checked.
   */
  turn<Result>(by: Warrant, act: () => Result): Promise<Result> {
    if (this.#isShared) return this.#turnAmongOthers(by, act);
    let result: Result;
    try {
      by.require();
      result = act();
    } catch (error) {
      return this.committed().then(() => {
        throw error;
      });
    }
    return this.committed().then(() => result);
  }

  /**
   * A turn of the gateway's own that answers nobody, such as a step of a round. If it changed nothing, it does not ask for newer
   * commits: the next round sees them.
   */
  ownTurn<Result>(act: () => Result): Promise<Result> {
    return this.#isShared ? this.#turnAmongOthers(ownWork, act, false) : this.turn(ownWork, act);
  }

  async #turnAmongOthers<Result>(by: Warrant, act: () => Result, asks = true): Promise<Result> {
    const { followed } = this;
    const attempt = this.attempt(() => {
      by.require();
      this.onlyWhile(() => holds(by));
      return act();
    });
    // What changed nothing is not checked by a commit. It may rest on what is no longer true.
    if (asks && attempt.isIdle) {
      if (!(await this.catchUp())) throw unavailable('read');
      if (this.followed > followed) attempt.run();
    }
    for (let readings = 1; ; ) {
      const { tick } = attempt;
      await tick?.committed;
      if (attempt.isIdle && this.takenBack > attempt.knowing) {
        // It may have seen turns that ended in another way.
        if (readings++ === mostReadings) throw unavailable('read');
        attempt.run();
      } else if (attempt.tick === tick) return attempt.outcome();
    }
  }

  /**
   * Reads, and reads again if that was refused and another gateway has done something in the meantime, or turns were taken
   * back. For what comes before a turn, or needs none. As in a turn, nothing is refused by old knowledge, nor by what
   * is not durable.
   */
  async fresh<Result>(read: () => Result | Promise<Result>): Promise<Result> {
    const { followed, takenBack } = this;
    try {
      return await read();
    } catch (error) {
      if (!this.#isShared) await this.committed();
      else if (!(await this.catchUp())) throw unavailable('read');
      if (this.followed === followed && this.takenBack === takenBack) throw error;
      return await this.durable(read);
    }
  }

  /** Adds an entry to this turn. `stamped`, if given, gets the entry's sequence. */
  record(draft: EntryDraft, stamped?: Stamped): void {
    const part = this.#open();
    part.drafts.push(draft);
    part.stamped.push(stamped);
  }

  /** Changes memory by a fact, and makes it durable with this turn. If it cannot be, the journal takes it back. */
  apply(fact: Change | Event): void {
    const undo = this.#apply(fact);
    const part = this.#open();
    part.undos.push(undo);
    const isKept = this.#isShared || this.#facts.isRedone(fact);
    if (isChange(fact)) {
      const change = fact as Change;
      part.changes.push(change);
      if (isKept) part.steps.push({ change });
    } else {
      const event = fact as Event;
      part.events.push(event);
      if (isKept) part.steps.push({ event });
    }
  }

  #apply(fact: Change | Event): Undo {
    this.#isApplying = true;
    try {
      this.#part?.trace?.addFact(this.#facts, fact);
      return this.#facts.apply(fact, this.#here);
    } finally {
      this.#isApplying = false;
    }
  }

  /** Changes what only this gateway knows, such as its files. The log and other gateways do not hear of it. */
  applyLocally(change: () => Undo): void {
    this.#isApplying = true;
    try {
      const undo = change();
      this.#open().undos.push(undo);
    } finally {
      this.#isApplying = false;
    }
  }

  /** Notes what the turn at hand rests on. What a fact reads while it is applied was judged before. */
  reads(what: Read): void {
    if (!this.#isApplying) this.#part?.trace?.rests.add(what);
  }

  onlyWhile(condition: Condition): void {
    if (!this.#isApplying) this.#part?.trace?.conditions.push(condition);
  }

  /** Runs `work` as soon as this turn is durable, before its answers leave. If the turn fails, `work` never runs. */
  onCommitted(work: () => void): void {
    this.#open().afterwards.push(work);
  }

  /** Resolves when everything recorded so far is durable. Rejects with `store_unavailable` if it cannot be. */
  committed(): Promise<void> {
    return (this.tick ?? this.inFlight)?.committed ?? settled;
  }

  /**
   * Reads, and answers once all that it may rest on is durable. Reads again if turns were taken back meanwhile: another
   * gateway was first, and they may have ended in another way.
   */
  async durable<Result>(read: () => Result | Promise<Result>): Promise<Result> {
    for (let round = 0; round < mostReadings; round++) {
      const { takenBack } = this;
      const reading = outcomeOf(read);
      await this.committed();
      const outcome = await reading;
      await this.committed();
      if (this.takenBack === takenBack) return outcome();
    }
    throw unavailable('read');
  }

  /** The events that happened in memory and are not durable yet, in order. */
  *undurable(): Iterable<Event> {
    for (const part of this.pending()) yield* part.events;
    yield* this.#part?.events ?? [];
  }

  protected attempt<Result>(act: () => Result) {
    let outcome: () => Result;
    const attempt = {
      tick: undefined as Tick<Change, Event> | undefined,
      isIdle: true,
      /** How many turns were taken back before it ran. */
      knowing: 0,
      outcome: () => outcome(),
      run: () => {
        const part = new Part<Change, Event>(this.followed, attempt);
        const outer = this.#part;
        this.#part = part;
        try {
          const result = act();
          outcome = () => result;
        } catch (error) {
          outcome = () => {
            throw error;
          };
        } finally {
          this.#part = outer;
          attempt.isIdle = part.isEmpty;
          attempt.knowing = this.takenBack;
          attempt.tick = part.isEmpty ? (this.tick ?? this.inFlight) : this.#add(part);
        }
      },
    };
    attempt.run();
    return attempt;
  }

  protected *pending(): Iterable<Part<Change, Event>> {
    for (const tick of [this.inFlight, this.tick]) yield* tick?.parts ?? [];
  }

  /** The part that the caller at hand writes to. */
  #open(): Part<Change, Event> {
    if (this.#part !== undefined) return this.#part;
    const { parts } = this.#openTick();
    const last = parts.at(-1);
    if (last !== undefined && last.by === undefined) return last;
    const part = new Part<Change, Event>(this.followed);
    parts.push(part);
    return part;
  }

  #add(part: Part<Change, Event>): Tick<Change, Event> {
    const tick = this.#openTick();
    tick.parts.push(part);
    return tick;
  }

  #openTick(): Tick<Change, Event> {
    if (this.tick === undefined) {
      this.tick = newTick();
      this.begun();
    }
    return this.tick;
  }
}

/** Reads at once. A refusal waits like an answer, so nobody hears of it yet. */
async function outcomeOf<Result>(read: () => Result | Promise<Result>): Promise<() => Result> {
  try {
    const result = await read();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** An event has a type, a change has a kind. */
function isChange(fact: unknown): boolean {
  return 'kind' in (fact as Named);
}

const settled = Promise.resolve();
