import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, EntryLog, StoredEntry } from '@reeve/core';
import { mayBeSameEntry } from '@reeve/core';
import { backoffMs } from './backoff.ts';
import type { ForwardPositions, Position } from './forward-positions.ts';
import type { Sink } from './sink.ts';
import { faultOf, SinkError } from './sink.ts';

/** What happens to a target, for logs, metrics and alerts. */
export interface ForwardReport {
  readonly sent: (entries: number) => void;
  readonly failed: (fault: string, failures: number) => void;
  readonly recovered: () => void;
  /** These entries are not in the log any more, and the target never gets them. */
  readonly missed: (from: number, through: number) => void;
  /** The log does not contain what the target was sent; it goes on after `seq`. */
  readonly wentBack: (was: Position, seq: number) => void;
}

export interface ForwarderPorts {
  /** What the position is stored under. */
  readonly key: string;
  /** Where the target was at the start. */
  readonly position: Position;
  readonly sink: Sink;
  readonly log: EntryLog;
  readonly positions: ForwardPositions;
  /** The newest durable entry. */
  readonly head: () => Position;
  /** Whether this gateway forwards, of those on the same store. */
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly report: ForwardReport;
}

const mostEntries = 200;
const mostCharacters = 512 * 1024;
const sendMs = 30_000;
const pollMs = 100;
/** How often a gateway that does not forward looks how far the other one is. */
const watchMs = 2000;
/** Sent entries are confirmed once nothing new has come for this long. */
const quietMs = 500;
/** A target that has taken nothing for this long holds back retention no more. */
const heldMs = 86_400_000;

/**
 * Brings the log to one target: in order, at least once, from its stored position. It reads from the store in small
 * batches, and nothing waits for it. What is not confirmed when something fails is sent again.
 */
export class Forwarder {
  readonly #ports: ForwarderPorts;
  readonly #stopping = new AbortController();
  readonly #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** What the target certainly has, as far as this gateway knows. */
  #position: Position;
  /** Whether the position was read from the store since the last failure. */
  #isCurrent = false;
  #sent: Position;
  #sentAt = 0;
  #unconfirmedSince = 0;
  #batch = mostEntries;
  #attempted = 0;
  #failures = 0;
  #fault: string | undefined;
  #missedThrough = 0;
  #progressAt: number;
  /** When the first entry happened that the target does not have. */
  #oldestAt: number | undefined;

  constructor(ports: ForwarderPorts) {
    this.#ports = ports;
    this.#position = ports.position;
    this.#sent = ports.position;
    this.#progressAt = ports.clock.elapsed();
  }

  get lagEntries(): number {
    return Math.max(0, this.#ports.head().seq - this.#position.seq);
  }

  /** The age of the oldest entry that the target does not have. */
  get lagSeconds(): number {
    if (this.lagEntries === 0 || this.#oldestAt === undefined) return 0;
    return Math.max(0, (this.#ports.clock.now() - this.#oldestAt) / 1000);
  }

  /** Why the last attempt failed; undefined if it did not. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Retention may remove entries up to this one. */
  get removableThrough(): number {
    if (this.lagEntries === 0 || this.#ports.clock.elapsed() - this.#progressAt > heldMs) {
      return Number.POSITIVE_INFINITY;
    }
    return this.#position.seq;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Sends what is left, if the target takes it, and ends within `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(() => this.#ending.abort(), graceMs);
    await this.#running;
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        if (!(await this.#turn())) break;
      } catch (error) {
        await this.#failed(error);
        if (this.#stopping.signal.aborted) break;
      }
    }
    await this.#ports.sink.reset().catch(() => undefined);
  }

  /** One step. Returns false if nothing is left to do before the end. */
  async #turn(): Promise<boolean> {
    if (!this.#ports.leads()) return await this.#watch();
    if (!this.#isCurrent) {
      await this.#takeOver();
      return true;
    }
    if (this.#ports.head().seq > this.#sent.seq) return await this.#sendNext();
    if (this.#sent.seq > this.#position.seq) {
      const isQuiet = this.#ports.clock.elapsed() - this.#sentAt >= quietMs;
      if (isQuiet || this.#stopping.signal.aborted || this.#isConfirmationDue()) await this.#confirm();
      else await this.#pause(pollMs);
      return true;
    }
    if (this.#stopping.signal.aborted) return false;
    await this.#pause(pollMs);
    return true;
  }

  /** Another gateway forwards. This one only looks how far that is. */
  async #watch(): Promise<boolean> {
    if (this.#isCurrent) {
      this.#isCurrent = false;
      await this.#ports.sink.reset();
    }
    this.#position = await this.#stored();
    this.#noteAge(await this.#ports.log.after(this.#position.seq, 1));
    this.#fault = undefined;
    for (let waited = 0; waited < watchMs && !this.#ports.leads(); waited += pollMs) await this.#pause(pollMs);
    return !this.#stopping.signal.aborted;
  }

  #stored(): Promise<Position> {
    return this.#ports.positions.read(this.#ports.key);
  }

  /** Begins where the target is by the store, if the log still has that entry. */
  async #takeOver(): Promise<void> {
    const stored = await this.#stored();
    const known = await this.#foundInLog(stored);
    if (known.seq !== stored.seq) {
      this.#ports.report.wentBack(stored, known.seq);
      if (!(await this.#ports.positions.move(this.#ports.key, stored, known))) return;
    }
    this.#position = known;
    this.#sent = known;
    this.#isCurrent = true;
  }

  /**
   * The position itself, unless the log was set back. A log that ends before is taken up at its end. With another entry
   * in the place, nobody knows since when the logs differ, and the target gets all there is. One that cannot be read is
   * not taken for another.
   */
  async #foundInLog(position: Position): Promise<Position> {
    if (position.seq === 0) return position;
    const [entry] = await this.#ports.log.after(position.seq - 1, 1);
    if (entry === undefined) return this.#ports.head();
    const isOther = entry.seq === position.seq && !mayBeSameEntry(entry.hash, position.hash);
    return isOther ? { seq: 0, hash: '' } : position;
  }

  async #sendNext(): Promise<boolean> {
    const { log, sink, report } = this.#ports;
    const found = within(await log.after(this.#sent.seq, this.#batch));
    const [first] = found;
    const last = found.at(-1);
    if (first === undefined || last === undefined) {
      await this.#pause(pollMs);
      return !this.#stopping.signal.aborted;
    }
    if (this.#sent.seq === this.#position.seq) this.#noteAge(found);
    this.#noteMissing(first.seq);
    this.#attempted = found.length;
    await sink.send(found, this.#within(sendMs));
    const now = this.#ports.clock.elapsed();
    if (this.#sent.seq === this.#position.seq) this.#unconfirmedSince = now;
    this.#sent = { seq: last.seq, hash: last.hash };
    this.#sentAt = now;
    this.#batch = Math.min(mostEntries, this.#batch * 2);
    report.sent(found.length);
    if (this.#isConfirmationDue()) await this.#confirm();
    return true;
  }

  /** Entries that retention has removed meanwhile. Those before the beginning of a new target are none of its own. */
  #noteMissing(firstFound: number): void {
    const from = Math.max(this.#sent.seq, this.#missedThrough) + 1;
    if (this.#sent.seq === 0 || firstFound <= from) return;
    this.#missedThrough = firstFound - 1;
    this.#ports.report.missed(from, firstFound - 1);
  }

  #isConfirmationDue(): boolean {
    const { entries, ms } = this.#ports.sink.unconfirmed;
    return this.#sent.seq - this.#position.seq > entries || this.#ports.clock.elapsed() - this.#unconfirmedSince > ms;
  }

  async #confirm(): Promise<void> {
    const { sink, positions, key, clock, report } = this.#ports;
    await sink.confirm(this.#within(sendMs));
    const isOurs = await positions.move(key, this.#position, this.#sent);
    // Another gateway has moved the position, and knows better.
    if (!isOurs) this.#isCurrent = false;
    else this.#position = this.#sent;
    this.#progressAt = clock.elapsed();
    this.#oldestAt = undefined;
    if (this.#failures > 0) report.recovered();
    this.#failures = 0;
    this.#fault = undefined;
  }

  async #failed(cause: unknown): Promise<void> {
    const { report, sink, random } = this.#ports;
    await sink.reset().catch(() => undefined);
    this.#isCurrent = false;
    this.#sent = this.#position;
    // A target that is too slow for a batch may manage a smaller one.
    const isAboutBatch = cause instanceof SinkError ? cause.isAboutBatch : faultOf(cause) === 'TimeoutError';
    if (isAboutBatch) this.#batch = Math.max(1, Math.floor(this.#attempted / 2));
    if (this.#stopping.signal.aborted) return;
    this.#fault = faultOf(cause);
    this.#failures++;
    report.failed(this.#fault, this.#failures);
    // A smaller batch is tried soon.
    const failures = isAboutBatch && this.#batch > 1 ? 1 : this.#failures;
    await this.#pause(backoffMs(failures, cause instanceof SinkError ? cause.retryAfterMs : 0, random));
  }

  #noteAge([first]: readonly StoredEntry[]): void {
    this.#oldestAt = first === undefined ? undefined : timeOf(first);
  }

  #within(ms: number): AbortSignal {
    return AbortSignal.any([this.#ending.signal, AbortSignal.timeout(ms)]);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

/** As many of the entries as fit, but at least one. */
function within(entries: readonly StoredEntry[]): readonly StoredEntry[] {
  let characters = 0;
  const end = entries.findIndex(({ canonical }) => (characters += canonical.length) > mostCharacters);
  return end === -1 ? entries : entries.slice(0, Math.max(1, end));
}

/** Read from the text, because a damaged entry is no JSON. */
function timeOf({ canonical }: StoredEntry): number | undefined {
  const at = Date.parse(/,"at":"([^"]{1,40})"/.exec(canonical)?.[1] ?? '');
  return Number.isNaN(at) ? undefined : at;
}
