import { Channel } from '../channel.ts';
import type { Endpoint } from '../endpoints.ts';
import { ReeveClosed } from '../errors.ts';
import type { ReeveUnavailable } from '../errors.ts';
import type { ProcessHold } from '../process-hold.ts';
import type { BackoffSettings, Next } from './retry.ts';
import { backoffMs } from './retry.ts';
import type { Patience } from './silence.ts';

export interface GatewaysOptions {
  readonly hold: ProcessHold;
  readonly backoff: BackoffSettings;
  /** The client has gone on to another gateway. Streams should follow. */
  readonly onMove: () => void;
  readonly random?: () => number;
}

const patience: Patience = { connectMs: 1000, answerMs: 2000 };
const longestConnectMs = 8000;
/** Who goes to another gateway takes all streams along. So where all say that they are unavailable, the client rests. */
const longestRestMs = 5000;
/** After this long without a failure, whatever failed before is over. */
const goodMs = 5000;

/**
 * The gateways that act as one. The client uses one at a time and keeps to it, so that the others do no work for it.
 * The first is chosen at random, which spreads many clients. When the one in use fails, the next in the list follows.
 *
 * The library could hold several addresses in one connection, but would use one name for the certificates of all, and
 * would stay with a gateway that answers UNAVAILABLE as long as its connection stands. So each gateway gets a channel
 * of its own. It is made when the gateway's turn comes, and left when the turn ends: calls that have gone out may still
 * be answered, as by a gateway that is shutting down.
 */
export class Gateways {
  readonly #endpoints: readonly Endpoint[];
  readonly #options: GatewaysOptions;
  readonly #left = new Set<Channel>();
  #place: number;
  #channel: Channel;
  /** How many gateways in a row have failed. */
  #failures = 0;
  #failedAt = 0;
  /** The last gateway that failed, and what failed on it. */
  #failedOn: Channel | undefined;
  #failedPaths = new Set<string>();
  #stayUntil = 0;
  #closed = false;

  constructor(endpoints: readonly Endpoint[], options: GatewaysOptions) {
    this.#endpoints = endpoints;
    this.#options = options;
    const { random = Math.random } = options;
    this.#place = Math.floor(random() * endpoints.length);
    this.#channel = this.#open();
  }

  get several(): boolean {
    return this.#endpoints.length > 1;
  }

  get count(): number {
    return this.#endpoints.length;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get address(): string {
    return this.#channel.address;
  }

  /** The gateway to call now. One that has closed its connection is left, because it is probably shutting down. */
  use(): Channel {
    if (this.#closed) throw new ReeveClosed();
    if (this.several && this.#channel.lost) this.#move();
    return this.#channel;
  }

  /**
   * The gateway has answered a call of this path. It is good if it answers something that failed before: while it cannot
   * take checks, for instance, it may well answer heartbeats.
   */
  answered(channel: Channel, path: string): void {
    if (channel !== this.#channel) return;
    if (this.#failedPaths.has(path) || performance.now() - this.#failedAt >= goodMs) this.#failures = 0;
  }

  /**
   * The gateway is out of reach, or says that it is unavailable. Returns whether another may be tried at once, that is,
   * unless all have failed. Then the client goes round the list at the pace of the backoff, however many calls fail.
   */
  failed(channel: Channel, path: string): boolean {
    if (!this.several || this.#closed) return false;
    // A lost connection fails all that is on it, one after the other. Whichever the next gateway answers first counts.
    if (channel === this.#failedOn) this.#failedPaths.add(path);
    if (channel === this.#channel) {
      this.#failedAt = performance.now();
      this.#failedOn = channel;
      this.#failedPaths = new Set([path]);
      if (!this.#stays()) {
        this.#failures++;
        if (this.#allFailed) this.#stayUntil = this.#failedAt + this.#restMs(channel);
        this.#move();
      }
    }
    return !this.#allFailed;
  }

  close(): void {
    this.#closed = true;
    for (const channel of [...this.#left, this.#channel]) channel.close();
    this.#left.clear();
  }

  get #allFailed(): boolean {
    return this.#failures >= this.count;
  }

  get #rounds(): number {
    return Math.floor(this.#failures / this.count);
  }

  #stays(): boolean {
    return this.#allFailed && this.#failedAt < this.#stayUntil;
  }

  #restMs({ connected }: Channel): number {
    const { backoff } = this.#options;
    const maxBackoffMs = connected ? Math.max(longestRestMs, backoff.maxBackoffMs) : backoff.maxBackoffMs;
    return backoffMs(this.#rounds - 1, { ...backoff, maxBackoffMs });
  }

  #move(): void {
    for (const channel of this.#left) if (channel.idle) this.#left.delete(channel);
    this.#left.add(this.#channel);
    this.#channel.leave();
    this.#place = (this.#place + 1) % this.count;
    this.#channel = this.#open();
    this.#options.onMove();
  }

  #open(): Channel {
    const endpoint = this.#endpoints[this.#place];
    if (endpoint === undefined) throw new RangeError('no address');
    const { hold } = this.#options;
    // A slow network gets more time with each round.
    const connectMs = Math.min(longestConnectMs, patience.connectMs * 2 ** this.#rounds);
    return new Channel(endpoint, { hold, patience: this.several ? { ...patience, connectMs } : undefined });
  }
}

/** The way of one caller from gateway to gateway: once round the list without delay, then with waits. */
export class Tour {
  readonly #gateways: Gateways;
  readonly #path: string;
  #ahead: number;
  #paid = false;

  constructor(gateways: Gateways, path: string) {
    this.#gateways = gateways;
    this.#path = path;
    this.#ahead = gateways.count - 1;
  }

  after(error: ReeveUnavailable, channel: Channel): Next {
    if (this.#gateways.failed(channel, this.#path) && this.#ahead > 0) {
      this.#ahead--;
      return 'another';
    }
    // Who has paid once waits for a gateway to return. To find none has cost no gateway anything.
    const isFree = this.#gateways.several && this.#paid && !error.mayHaveArrived;
    this.#paid = true;
    return isFree ? 'wait' : 'wait_and_pay';
  }

  /** Whether a call waits for the connection. With several gateways, the tour goes on instead. */
  get waitsForReady(): boolean {
    return this.#paid && !this.#gateways.several;
  }

  /** An answer came. The next failure starts a new tour. */
  restart(): void {
    this.#ahead = this.#gateways.count - 1;
    this.#paid = false;
  }
}
