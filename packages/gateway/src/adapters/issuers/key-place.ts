import type { LocalJWKSet } from 'jose';
import { createLocalJWKSet } from 'jose';
import { messageOf, RecentMap } from '@reeve/core';
import { watchPlace, fingerprintOf } from '../files/watch-place.ts';
import type { DecodedJwt } from './decode-jwt.ts';
import { fetchKeySet, readKeySet } from './fetch-key-set.ts';

/** Where a set of keys is. */
export type Place = { readonly uri: string } | { readonly file: string };

export interface KeyPlaceOptions {
  readonly elapsed: () => number;
  /** Called when a set cannot be had, and when it can again (without a reason). */
  readonly onChange: (place: Place, why: string | undefined) => void;
}

/** A set is fetched anew before it is an hour old, and after a failure soon. */
const renewAfterMs = 50 * 60_000;
const retryAfterMs = 30_000;
/** A key that is not known is asked for at most this often. */
const askEveryMs = 30_000;
/** How long the one check waits that needs it. */
const longestWaitMs = 2000;
/** At least as many verified tokens are kept, and as many that were signed by somebody else. */
const mostVerified = 2048;
const mostRefused = 1024;

/** The tokens that one set of keys was asked about. They are forgotten with it. */
export interface HeldSet {
  readonly text: string;
  readonly find: LocalJWKSet;
  readonly kids: ReadonlySet<string | undefined>;
  readonly verified: RecentMap<DecodedJwt>;
  readonly refused: RecentMap<string>;
  /** Verifications under way. Many calls may come with the same new token at once. */
  readonly underWay: Map<string, Promise<string | undefined>>;
}

/**
 * The newest set of keys of one place. It is fetched aside, and replaced whole. Only a check whose key is not known waits
 * for it, and not for long.
 */
export class KeyPlace {
  readonly place: Place;
  /** Resolves once the first set was fetched, or could not be. */
  readonly started: Promise<void>;
  readonly #options: KeyPlaceOptions;
  readonly #ended = new AbortController();
  #held: HeldSet | undefined;
  #fetching: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #beganAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #failure: string | undefined;

  constructor(place: Place, options: KeyPlaceOptions) {
    this.place = place;
    this.#options = options;
    if ('file' in place) {
      const { file } = place;
      this.#unwatch = watchPlace(
        file,
        () => fingerprintOf(() => [file]),
        () => void this.#fetchAnew(),
      );
    }
    this.started = this.#fetch();
  }

  get held(): HeldSet | undefined {
    return this.#held;
  }

  /** Why the last set could not be had. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The set to verify with, once the key is in it or cannot be had in time. */
  async setWith(kid: string | undefined): Promise<HeldSet | undefined> {
    if (this.#knows(kid)) return this.#held;
    // An endpoint that hangs keeps those who come one after the other waiting once, and not each of them.
    const hangsFor = this.#fetching === undefined ? 0 : this.#options.elapsed() - this.#beganAt;
    if (hangsFor < longestWaitMs) await Promise.race([this.#bring(kid), wait(longestWaitMs - hangsFor)]);
    return this.#held;
  }

  close(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
    this.#unwatch?.();
  }

  #knows(kid: string | undefined): boolean {
    return this.#held?.kids.has(kid) ?? false;
  }

  /** A fetch that is under way may have begun before the key was there. Then it is asked for, if that may be. */
  async #bring(kid: string | undefined): Promise<void> {
    await this.#fetching;
    if (this.#knows(kid)) return;
    const now = this.#options.elapsed();
    if (this.#fetching === undefined && now - this.#askedAt < askEveryMs) return;
    this.#askedAt = now;
    await this.#fetch();
  }

  #fetch(): Promise<void> {
    if (this.#fetching === undefined) this.#beganAt = this.#options.elapsed();
    this.#fetching ??= this.#replace().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  /** What a read under way has seen may be older than the change. */
  async #fetchAnew(): Promise<void> {
    await this.#fetching;
    await this.#fetch();
  }

  async #replace(): Promise<void> {
    const { place } = this;
    const { signal } = this.#ended;
    clearTimeout(this.#timer);
    try {
      const text = 'uri' in place ? await fetchKeySet(place.uri, signal) : await readKeySet(place.file);
      // What was verified with the same keys stays so.
      if (text !== this.#held?.text) this.#held = heldSet(text);
      this.#report(undefined);
    } catch (error) {
      // The cause of a failed fetch is the one that says something.
      this.#report(messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error));
    }
    // A file is read again when it changes, or if it was not whole.
    if (signal.aborted || (!('uri' in place) && this.#failure === undefined)) return;
    this.#timer = setTimeout(() => void this.#fetch(), this.#failure === undefined ? renewAfterMs : retryAfterMs);
    this.#timer.unref();
  }

  #report(why: string | undefined): void {
    const isNews = why !== this.#failure;
    this.#failure = why;
    // Whoever names a file that was never right is told so by its failure.
    const isTold = 'uri' in this.place || this.#held !== undefined;
    if (isNews && isTold && !this.#ended.signal.aborted) this.#options.onChange(this.place, why);
  }
}

function heldSet(text: string): HeldSet {
  const set = readSet(text);
  return {
    text,
    find: createLocalJWKSet(set),
    // A token that names no key can be verified if there is one that fits.
    kids: new Set([undefined, ...set.keys.map(({ kid }) => (typeof kid === 'string' ? kid : undefined))]),
    verified: new RecentMap(mostVerified),
    refused: new RecentMap(mostRefused),
    underWay: new Map(),
  };
}

type KeySet = Parameters<typeof createLocalJWKSet>[0];

function readSet(text: string): KeySet {
  const content = parseJson(text);
  const keys = typeof content === 'object' && content !== null && 'keys' in content ? content.keys : undefined;
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'object' && key !== null)) {
    throw new Error('it is no JSON Web Key Set: {"keys": [...]}');
  }
  return { keys: keys.map(forTokens) } as KeySet;
}

/** The parser's own message quotes the text, which anybody may have sent. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is no JSON');
  }
}

/** A SPIFFE bundle marks keys of JWT-SVIDs by their own word for signatures (JWT-SVID, 5). */
function forTokens(key: Readonly<Record<string, unknown>>): unknown {
  return key['use'] === 'jwt-svid' ? { ...key, use: 'sig' } : key;
}

async function wait(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms).unref();
  return promise;
}
