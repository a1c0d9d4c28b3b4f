import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@reeve/core';
import type { NatsUrl } from '../../config/nats-url.ts';
import { systemClock } from '../system/system-clock.ts';
import type { Bus } from './bus.ts';
import type { Caller, Link } from './dial.ts';
import { dial } from './dial.ts';
import { clusterOf, envelopeBytes, Opener, Sealer } from './envelope.ts';
import { RareErrors } from './rare-errors.ts';

export type BusStatus = 'connected' | 'disconnected';

export interface NatsBusOptions extends Caller {
  readonly urls: readonly NatsUrl[];
  /** 32 bytes that all gateways of the installation know, and nobody else. */
  readonly secret: Uint8Array;
  /** Called once for each change. A bus begins disconnected. Closing it is no change. */
  readonly onStatus: (status: BusStatus) => void;
  /** What an operator should know. The texts hold no secrets. */
  readonly onError: (error: Error) => void;
}

type Handler = (payload: Uint8Array) => void;

/** Of the server's default configuration. */
const usualMostBytes = 1_048_576;
const firstPauseMs = 100;
const longestPauseMs = 5000;
/** A connection that ends sooner was none, and the pauses go on growing. */
const steadyMs = 5000;
/** How long the last messages may take to leave. */
const farewellMs = 500;

/** Returns at once. The bus connects in the background, and does so again whenever the connection is lost. */
export function openNatsBus(options: NatsBusOptions): NatsBus {
  return new NatsBus(options);
}

/** A bus on NATS. Only holders of the secret can read or write its messages. Nothing is kept for later. */
export class NatsBus implements Bus {
  readonly #options: NatsBusOptions;
  readonly #prefix: string;
  readonly #sealer: Sealer;
  readonly #opener: Opener;
  readonly #errors: RareErrors;
  readonly #handlers = new Map<string, Handler[]>();
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #link: Link | undefined;
  #isConnected = false;
  #mostBytes = usualMostBytes;
  #dropped = 0;
  #toldDropped = 0;

  constructor(options: NatsBusOptions) {
    const { secret, onError } = options;
    this.#options = options;
    this.#prefix = `reeve.${clusterOf(secret)}.`;
    this.#sealer = new Sealer(secret);
    this.#opener = new Opener(secret, this.#sealer.sender);
    this.#errors = new RareErrors(onError, systemClock.elapsed);
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#isConnected && this.#link?.isOpen() === true;
  }

  get mostBytes(): number {
    return this.#mostBytes - envelopeBytes;
  }

  /** How many messages came that no gateway of this installation has sent just now. */
  get dropped(): number {
    return this.#dropped;
  }

  publish(topic: string, payload: Uint8Array): boolean {
    if (!this.isConnected || payload.length > this.mostBytes) return false;
    try {
      this.#link?.nats.publish(this.#prefix + topic, this.#sealer.seal(topic, payload));
      return true;
    } catch {
      return false;
    }
  }

  subscribe(topic: string, handler: Handler): void {
    const handlers = this.#handlers.get(topic);
    if (handlers !== undefined) {
      handlers.push(handler);
      return;
    }
    this.#handlers.set(topic, [handler]);
    if (this.#link?.isOpen() === true) this.#listen(this.#link, topic);
  }

  /** Sends what was published, as far as that is quick, and ends. */
  async close(): Promise<void> {
    const link = this.#link;
    if (link !== undefined && this.isConnected) {
      const timer = setTimeout(link.cut, farewellMs);
      await Promise.race([link.nats.flush(), link.nats.closed()]).catch(() => undefined);
      clearTimeout(timer);
    }
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { urls } = this.#options;
    const { signal } = this.#ended;
    // Not all gateways begin with the same server.
    let turn = randomInt(urls.length);
    for (let failures = 0; !signal.aborted; turn++) {
      const server = urls[turn % urls.length];
      const lastedMs = server === undefined ? 0 : await this.#connectTo(server);
      failures = lastedMs > steadyMs ? 0 : failures + 1;
      // Several servers are tried one after the other before the pause grows.
      await sleep(pauseMs(Math.floor(failures / urls.length)), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Connects, and returns when the connection is lost: for how long there was one. */
  async #connectTo(server: NatsUrl): Promise<number> {
    const { signal } = this.#ended;
    try {
      const link = await dial(server, this.#options, signal);
      const end = () => void link.nats.close();
      signal.addEventListener('abort', end);
      try {
        return signal.aborted ? 0 : await this.#use(link);
      } finally {
        signal.removeEventListener('abort', end);
        await link.nats.close();
        link.cut();
      }
    } catch (error) {
      if (!signal.aborted) this.#errors.report(messageOf(error));
      return 0;
    }
  }

  async #use(link: Link): Promise<number> {
    const lost = link.nats.closed();
    this.#isConnected = false;
    this.#link = link;
    void this.#watch(link);
    for (const topic of this.#handlers.keys()) this.#listen(link, topic);
    // From here on the server knows the subscriptions, so that "connected" means: nothing is missed any more.
    await Promise.race([link.nats.flush(), lost]);
    if (!link.isOpen()) return 0;
    this.#mostBytes = link.nats.info?.max_payload ?? usualMostBytes;
    const since = systemClock.elapsed();
    this.#isConnected = true;
    this.#options.onStatus('connected');
    await lost;
    this.#isConnected = false;
    if (!this.#ended.signal.aborted) this.#options.onStatus('disconnected');
    return systemClock.elapsed() - since;
  }

  async #watch({ nats, cut }: Link): Promise<void> {
    for await (const status of nats.status()) {
      if (status.type === 'staleConnection') cut();
      if (status.type === 'error') this.#errors.report(`NATS at ${nats.getServer()} reports: ${status.error.message}`);
    }
  }

  #listen({ nats, cut }: Link, topic: string): void {
    nats.subscribe(this.#prefix + topic, {
      callback: (error, message) => {
        // Only a missing permission ends up here, and ends the subscription. It may be granted by the next attempt.
        if (error === null) this.#receive(topic, message.data);
        else cut();
      },
    });
  }

  #receive(topic: string, envelope: Uint8Array): void {
    if (this.#ended.signal.aborted) return;
    const opened = this.#opener.open(topic, envelope);
    if (opened === 'foreign') return;
    if (opened === 'refused') {
      this.#drop();
      return;
    }
    for (const handler of this.#handlers.get(topic) ?? []) {
      try {
        handler(opened.payload);
      } catch (error) {
        const text = `a message of another gateway about "${topic}" was not taken in: ${messageOf(error)}`;
        this.#options.onError(new Error(text, { cause: error }));
      }
    }
  }

  #drop(): void {
    this.#dropped++;
    const text = `messages that no gateway of this installation has sent, or not just now, came by NATS and were dropped: ${this.#dropped - this.#toldDropped}`;
    if (this.#errors.report(text, 'dropped')) this.#toldDropped = this.#dropped;
  }
}

/** Doubles, up to a limit, and is never the same for two gateways. */
function pauseMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
}
