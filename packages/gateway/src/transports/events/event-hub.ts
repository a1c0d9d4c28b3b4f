import type { Clock, EventFilter, EventLog, Principal } from '@reeve/core';
import { eventsFor } from '@reeve/core';
import type { RoomShare, SharedRoom } from '@reeve/grpc-server';
import { defaultLimits } from '@reeve/grpc-server';
import { readerOf } from '../../evaluation/tenant-slots.ts';
import { EncodedEvents } from './encoded-events.ts';
import type { Ending, EventStream } from './event-stream.ts';
import { EventView, pieceBytes } from './event-view.ts';

export interface HubPorts {
  readonly log: EventLog;
  readonly clock: Clock;
  /** What clients leave unread counts here, for their tenant. */
  readonly unsent: SharedRoom;
  readonly isStillValid: (principal: Principal) => boolean | Promise<boolean>;
  /** Runs work in the next turn of the event loop. */
  readonly soon: (work: () => void) => void;
  readonly later: (work: () => void, ms: number) => void;
  readonly onSent: (events: number) => void;
  /** Called with the number of events that a client misses because it reads too slowly. */
  readonly onDropped: (events: number) => void;
  readonly onEnded: (why: Ending) => void;
}

/** Who follows which events. */
export interface Follower {
  readonly principal: Principal;
  readonly filter: EventFilter;
  readonly since: number | undefined;
}

interface Client {
  readonly stream: EventStream;
  readonly principal: Principal;
  readonly viewKey: string;
  readonly view: EventView;
  /** The id of the next event to send. */
  next: number;
  beatAt: number;
  readonly share: RoomShare;
  /** Bytes written to the client. */
  written: number;
  /** Set while something waits for the client: since when it takes nothing of it, and how much it had taken by then. */
  stuck: { readonly since: number; readonly taken: number; readonly isFull: boolean } | undefined;
}

/** The most that may wait in memory for one client; beyond it, events wait in the log. */
const mostBuffered = 1024 * 1024 - pieceBytes;
/** A client with a full buffer that takes nothing for so long reads too slowly. */
const stuckForMs = 3000;
/** So does any client after this long. */
const { takeWithinMs } = defaultLimits;
/** Sending yields to decisions after this long, and rests for a multiple of the time it took. */
const sliceMs = 1;
const restFactor = 3;
const longestRestMs = 100;

/**
 * Sends the events of the log to all clients that follow them. Each client has its own place in the log and is sent
 * pieces from there as fast as it takes them. Replay and live are the same, so nothing is lost or doubled between them,
 * and a slow reader delays nobody. Without clients, nothing is done.
 */
export class EventHub {
  readonly #ports: HubPorts;
  readonly #encoded: EncodedEvents;
  readonly #clients = new Map<EventStream, Client>();
  readonly #views = new Map<string, EventView>();
  #sending = false;
  #looking = false;
  #draining = false;

  constructor(ports: HubPorts) {
    this.#ports = ports;
    this.#encoded = new EncodedEvents(ports.log);
    ports.log.subscribe(() => this.wake());
  }

  get draining(): boolean {
    return this.#draining;
  }

  count(format: EventStream['format']['name']): number {
    let count = 0;
    for (const stream of this.#clients.keys()) if (stream.format.name === format) count++;
    return count;
  }

  join(stream: EventStream, { principal, filter, since }: Follower): void {
    const { log, clock } = this.#ports;
    const { from, gap } = log.startAfter(since);
    const viewKey = JSON.stringify([principal.orgId, principal.teamId, filter]);
    const view = this.#views.get(viewKey) ?? new EventView(log, this.#encoded, eventsFor(principal, filter));
    this.#views.set(viewKey, view);
    view.clients++;
    const beatAt = clock.elapsed() + stream.beatEveryMs;
    const share = this.#ports.unsent.join(() => this.#cutOff(stream));
    share.belongTo(readerOf(principal));
    const place = { next: from, beatAt, written: 0, stuck: undefined };
    this.#clients.set(stream, { stream, principal, viewKey, view, share, ...place });
    const cursor = Math.max(log.newest, from - 1);
    const hello = stream.format.notice('hello', `{"event_type":"hello","cursor":${cursor}}`);
    stream.write(gap ? Buffer.concat([hello, stream.format.notice('gap', '{"event_type":"gap"}')]) : hello);
    if (from <= log.newest) this.wake();
  }

  /** The connection is gone. */
  leave(stream: EventStream): void {
    const client = this.#clients.get(stream);
    if (client === undefined) return;
    this.#clients.delete(stream);
    client.share.leave();
    if (--client.view.clients === 0) this.#views.delete(client.viewKey);
    if (this.#clients.size === 0) this.#encoded.clear();
  }

  /** Call it when there may be something to send: an event has come, or a client has taken what it had. */
  wake(): void {
    if (this.#sending || this.#clients.size === 0) return;
    this.#sending = true;
    this.#ports.soon(() => this.#send());
  }

  /** The periodic work. Call it about once a second. */
  tick(): void {
    const now = this.#ports.clock.elapsed();
    for (const client of this.#clients.values()) this.#tend(client, now);
    // One check at a time, however long it takes.
    if (this.#looking) return;
    this.#looking = true;
    void this.checkCredentials().finally(() => {
      this.#looking = false;
    });
  }

  #tend(client: Client, now: number): void {
    client.share.hold(client.stream.buffered);
    // That may have cut it off.
    if (!this.#clients.has(client.stream)) return;
    if (this.#isTooSlow(client, now)) {
      this.#end(client, 'slow');
    } else if (now >= client.beatAt) {
      client.beatAt = now + client.stream.beatEveryMs;
      if (!client.stream.beat()) this.#end(client, 'silent');
    }
  }

  /** Ends the streams whose credential has ended. It checks each credential once, however many streams it has. */
  async checkCredentials(): Promise<void> {
    const byCredential = Map.groupBy(this.#clients.values(), ({ principal }) => {
      const { credentialId, login, expiresAt, signedBy, orgId, teamId, scopes } = principal;
      // Streams of one credential may have rights from before and after they were changed.
      return JSON.stringify([credentialId, login, expiresAt, signedBy, orgId, teamId, scopes]);
    });
    await Promise.all([...byCredential.values()].map((clients) => this.#checkCredential(clients)));
  }

  /** Ends all streams, and every later one. */
  drain(): void {
    this.#draining = true;
    for (const client of this.#clients.values()) this.#end(client, 'drain');
  }

  async #checkCredential(clients: readonly Client[]): Promise<void> {
    const [first] = clients;
    if (first === undefined) return;
    // If the check fails, for example while the store is away, the next one decides.
    const valid = await Promise.resolve(this.#ports.isStillValid(first.principal)).catch(() => true);
    if (!valid) for (const client of clients) this.#end(client, 'credential');
  }

  #send(): void {
    const target = this.#ports.log.newest;
    const behind = [...this.#clients.values()].filter((client) => client.next <= target);
    this.#sendTo(behind, 0, target, 0);
  }

  /**
   * Sends each client one piece in turn, in slices, until all have reached the log's end at the start or can take no
   * more.
   */
  #sendTo(behind: Client[], start: number, target: number, spentMs: number): void {
    const { clock, soon } = this.#ports;
    const startedAt = clock.elapsed();
    for (let at = start; at < behind.length; at++) {
      const client = behind[at];
      if (client !== undefined && this.#advance(client) && client.next <= target) behind.push(client);
      const tookMs = clock.elapsed() - startedAt;
      if (tookMs >= sliceMs) {
        soon(() => this.#sendTo(behind, at + 1, target, spentMs + tookMs));
        return;
      }
    }
    this.#rest(spentMs + clock.elapsed() - startedAt);
  }

  #rest(tookMs: number): void {
    const { later, soon } = this.#ports;
    const restMs = Math.min(tookMs * restFactor, longestRestMs);
    const goOn = () => {
      this.#sending = false;
      if ([...this.#clients.values()].some((client) => this.#canTake(client))) this.wake();
    };
    if (restMs < 1) soon(goOn);
    else later(goOn, restMs);
  }

  #canTake({ stream, next }: Client): boolean {
    return next <= this.#ports.log.newest && stream.buffered < mostBuffered;
  }

  /** Sends a client the next piece; false if the client is gone or cannot take it now. */
  #advance(client: Client): boolean {
    const { stream, view } = client;
    if (!this.#clients.has(stream)) return false;
    if (client.next < this.#ports.log.oldest) {
      this.#end(client, 'slow');
      return false;
    }
    if (stream.buffered >= mostBuffered) return false;
    const { next, events, bytes } = view.piece(stream.format, client.next);
    client.next = next;
    if (events > 0) {
      stream.write(bytes);
      client.written += bytes.length;
      client.share.hold(stream.buffered);
      this.#ports.onSent(events);
    }
    return true;
  }

  #isTooSlow(client: Client, now: number): boolean {
    const { buffered } = client.stream;
    const taken = client.written - buffered;
    const isFull = buffered >= mostBuffered;
    const isStuck = client.stuck !== undefined && taken <= client.stuck.taken && isFull === client.stuck.isFull;
    if (buffered === 0) client.stuck = undefined;
    else if (!isStuck) client.stuck = { since: now, taken, isFull };
    return client.stuck !== undefined && now - client.stuck.since >= (isFull ? stuckForMs : takeWithinMs);
  }

  #end(client: Client, why: Ending): void {
    if (!this.#clients.has(client.stream)) return;
    if (why === 'slow') this.#ports.onDropped(this.#unsent(client));
    this.leave(client.stream);
    client.stream.end(why);
    this.#ports.onEnded(why);
  }

  /** Of all that a tenant leaves unread, this client has most. */
  #cutOff(stream: EventStream): void {
    const client = this.#clients.get(stream);
    if (client === undefined) return;
    this.#end(client, 'slow');
    stream.destroy();
  }

  /** How many events a client has not been sent, as far as the log still has them. */
  #unsent({ next, view }: Client): number {
    const { log } = this.#ports;
    let unsent = Math.max(0, log.oldest - next);
    for (let id = Math.max(next, log.oldest); id <= log.newest; id++) {
      const event = log.at(id);
      if (event !== undefined && view.wants(event)) unsent++;
    }
    return unsent;
  }
}
