import type { Route } from '@reeve/contract/http';
import type { FastifyReply } from 'fastify';
import { networkOf } from './network-of.ts';
import { HttpError } from './problem.ts';
import type { Allowance } from './rate-limiter.ts';
import { RateLimiter } from './rate-limiter.ts';

export interface LimitSettings {
  readonly authPerMinute: number;
  readonly publicPerMinute: number;
  readonly apiPerMinute: number;
  readonly elapsed: () => number;
  readonly onLimited: (limit: string) => void;
}

/** The limits of contract §2: per address on public routes and for failed credentials, per credential elsewhere. */
export class Limits {
  readonly #auth: RateLimiter;
  readonly #public: RateLimiter;
  readonly #api: RateLimiter;
  readonly #onLimited: (limit: string) => void;

  constructor(settings: LimitSettings) {
    this.#auth = new RateLimiter(settings.authPerMinute, settings.elapsed);
    this.#public = new RateLimiter(settings.publicPerMinute, settings.elapsed);
    this.#api = new RateLimiter(settings.apiPerMinute, settings.elapsed);
    this.#onLimited = settings.onLimited;
  }

  publicCall(route: Pick<Route, 'limit'>, address: string, reply: FastifyReply): void {
    if (route.limit === 'exempt') return;
    const network = networkOf(address);
    if (route.limit === 'auth') this.#apply('auth', this.#auth.take(network), reply);
    else this.#apply('public', this.#public.take(network), reply);
  }

  /** A key and the tokens made from it count as one credential, over gRPC as well. */
  credentialCall(keyId: string, reply: FastifyReply): void {
    this.#apply('api', this.#api.take(keyId), reply);
  }

  /** Counts a call over gRPC. Returns after how many seconds to try again; undefined if it may go on. */
  credentialRpc(keyId: string): number | undefined {
    const allowance = this.#api.take(keyId);
    if (allowance === undefined || allowance.allowed) return undefined;
    this.#onLimited('api');
    return allowance.resetSecs;
  }

  #apply(name: string, allowance: Allowance | undefined, reply: FastifyReply): void {
    if (allowance === undefined) return;
    const { limit, remaining, resetSecs } = allowance;
    void reply.header('ratelimit-policy', `"${name}";q=${limit};w=60`);
    void reply.header('ratelimit', `"${name}";r=${remaining};t=${resetSecs}`);
    if (allowance.allowed) return;
    this.#onLimited(name);
    const seconds = String(resetSecs);
    throw new HttpError(
      'rate_limited',
      `too many calls; try again in ${seconds} seconds`,
      {},
      { 'retry-after': seconds },
    );
  }
}
