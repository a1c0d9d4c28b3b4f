import { setTimeout as sleep } from 'node:timers/promises';
import type { GlobalValues } from '../command-line/command.ts';
import { dataText, note } from '../output/print.ts';
import { escapeControls } from '../output/clean-text.ts';
import { hasColours } from '../output/colour.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import type { Shell } from '../shell.ts';
import { followEvents, isPassing } from '../events/follow-events.ts';
import { onInterruption } from '../terminal/interruption.ts';
import type { LogEntry } from './log-columns.ts';
import { logLine } from './log-line.ts';
import type { logQuery } from './log-filters.ts';

type LogQuery = ReturnType<typeof logQuery>;

/** The poll interval, because not every entry comes with an event. */
const pollMs = 2000;
/** Events that arrive together cause one poll. */
const gatherMs = 100;
/** A search starts a little before the last entry, so that none reads the whole log. */
const overlapMs = 60_000;
const perPage = 500;

/** Shows the newest entries, then every new one, in order and once, until the command is interrupted. */
export async function followLogs(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  query: LogQuery,
  count: number,
): Promise<number> {
  using interruption = onInterruption();
  const { signal } = interruption;
  const log = new FollowedLog(client, query);
  const show = (entries: readonly LogEntry[]) => {
    for (const entry of entries) shell.stdout.write(entryText(shell, globals, entry));
  };
  show(await log.start(count));
  const bell = new Bell();
  const watching = ring(shell, globals, client, query, bell, signal);
  // A failure here fails the whole command, which notices it below.
  watching.catch(() => bell.ring());
  for (let isLost = false; !signal.aborted; ) {
    await Promise.race([bell.rung(), sleep(pollMs, undefined, { signal }).catch(() => {})]);
    if (bell.error !== undefined) throw bell.error;
    if (signal.aborted) break;
    await sleep(gatherMs);
    try {
      show(await log.news());
      isLost = false;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!isLost) note(shell, `${error instanceof Error ? error.message : String(error)}. Trying again.`);
      isLost = true;
    }
  }
  await watching;
  return 0;
}

/** Rings on every event. */
async function ring(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  { org_id }: LogQuery,
  bell: Bell,
  signal: AbortSignal,
): Promise<void> {
  const onConnection = (state: 'live' | 'lost') => {
    if (state === 'lost' && shell.stderr.isTTY) note(shell, 'The stream of events was lost; opening it again.');
  };
  try {
    const events = followEvents(
      client,
      { org_id },
      {
        signal,
        onConnection,
        timeoutMs: globals.timeout * 1000,
        wasReached: true,
      },
    );
    for await (const _ of events) bell.ring();
  } catch (error) {
    bell.error = error;
    bell.ring();
  }
}

class Bell {
  error: unknown;
  #wake: (() => void) | undefined;
  #isRung = false;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  rung(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#isRung = false;
        this.#wake = undefined;
        resolve();
      };
      this.#wake = wake;
      if (this.#isRung) wake();
    });
  }
}

/** Tracks by sequence which entries were shown. */
class FollowedLog {
  readonly #client: GatewayClient;
  readonly #query: LogQuery;
  #lastSeq = 0;
  #lastAt: string | undefined;

  constructor(client: GatewayClient, query: LogQuery) {
    this.#client = client;
    this.#query = query;
  }

  /** The newest entries, oldest first. */
  async start(count: number): Promise<LogEntry[]> {
    const [newest] = (await this.#read({}, 1, undefined)).items;
    this.#advance(newest);
    const { items } = await this.#read(this.#query, count, undefined);
    this.#advance(items[0]);
    return items.toReversed();
  }

  /** Entries written since then, oldest first. */
  async news(): Promise<LogEntry[]> {
    const from = this.#lastAt === undefined ? undefined : new Date(Date.parse(this.#lastAt) - overlapMs).toISOString();
    const query = { ...this.#query, from: later(this.#query.from, from) };
    const found: LogEntry[] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, next_cursor: next } = await this.#read(query, perPage, cursor);
      const fresh = items.filter(({ seq }) => seq > this.#lastSeq);
      found.push(...fresh);
      if (next === null || fresh.length < items.length) break;
      cursor = next;
    }
    this.#advance(found[0]);
    return found.toReversed();
  }

  #advance(entry: LogEntry | undefined): void {
    if (entry === undefined || entry.seq <= this.#lastSeq) return;
    this.#lastSeq = entry.seq;
    this.#lastAt = entry.at;
  }

  #read(query: Partial<LogQuery>, count: number, cursor: string | undefined) {
    return this.#client.call('listLogs', { query: { ...query, per_page: count, cursor } });
  }
}

function later(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Date.parse(one) > Date.parse(other) ? one : other;
}

function entryText(shell: Shell, { output }: GlobalValues, entry: LogEntry): string {
  if (output === 'json') return `${escapeControls(JSON.stringify(entry))}\n`;
  if (output === 'yaml') return `---\n${dataText('yaml', entry)}`;
  return `${logLine(entry, hasColours(shell))}\n`;
}
