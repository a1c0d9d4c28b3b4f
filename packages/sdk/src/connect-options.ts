import { parseApiKey } from './api-key.ts';
import type { Endpoint, TlsOptions } from './endpoints.ts';
import { endpointsOf } from './endpoints.ts';
import { ReeveInvalidRequest } from './errors.ts';
import { usualAddresses } from './usual-addresses.ts';
import { requireDuration } from './validate.ts';

export interface RetryOptions {
  /**
   * How many retries may happen at once before any answer has earned one. Default 10. 0 switches retries off; each of
   * several gateways is then still tried once.
   */
  readonly burst?: number | undefined;
  /** The part of a retry that each answer earns. Default 0.1: over time, one retry in ten calls. */
  readonly ratio?: number | undefined;
  /** The first retry waits up to this long, each later one up to twice as long. Default 50. */
  readonly initialBackoffMs?: number | undefined;
  /** The longest wait before a retry. Default 1000. */
  readonly maxBackoffMs?: number | undefined;
}

export interface ConnectOptions {
  /**
   * `host:port` of the gateway's gRPC. Without any address, the variable `REEVE_GRPC_ADDR` counts, which may hold several,
   * separated by commas; without that, `127.0.0.1:50051`.
   */
  readonly address?: string | undefined;
  /**
   * In place of `address`: the gateways that act as one. The client uses one of them at a time, chosen at random. If
   * that one fails, the client goes on with the next.
   */
  readonly addresses?: readonly string[] | undefined;
  /** Required to register agents. Attaching with a token needs none. */
  readonly apiKey?: string | undefined;
  /** On by default, except for an address on this machine. Each address counts for itself. */
  readonly tls?: boolean | TlsOptions | undefined;
  /** The longest time a call may take, with all its retries. Default 5000. */
  readonly deadlineMs?: number | undefined;
  readonly retry?: RetryOptions | undefined;
  /** The result of a check without an answer in time: a denial (the default), or a `ReeveUnavailable`. */
  readonly onUnavailable?: 'deny' | 'throw' | undefined;
  /** Whether checks share one stream: `auto` (the default) when many are in flight, `always` or `never`. */
  readonly pipeline?: 'auto' | 'always' | 'never' | undefined;
}

export interface Settings {
  readonly endpoints: readonly Endpoint[];
  readonly deadlineMs: number;
  readonly retry: { readonly [Name in keyof RetryOptions]-?: number };
  readonly onUnavailable: 'deny' | 'throw';
  readonly pipeline: 'auto' | 'always' | 'never';
}

/** The options with their defaults. The key is kept apart. */
export function settingsOf(options: ConnectOptions): { settings: Settings; apiKey: string | undefined } {
  const { retry = {}, deadlineMs = 5000, onUnavailable = 'deny', pipeline = 'auto' } = options;
  const isNamed = options.address !== undefined || options.addresses !== undefined;
  const endpoints = endpointsOf(isNamed ? options : { ...options, addresses: usualAddresses() });
  requireDuration('deadlineMs', deadlineMs);
  const { burst = 10, ratio = 0.1, initialBackoffMs = 50, maxBackoffMs = 1000 } = retry;
  if (!(burst >= 0)) throw new ReeveInvalidRequest('retry.burst: must not be negative');
  if (!(ratio >= 0 && ratio <= 1)) throw new ReeveInvalidRequest('retry.ratio: must be from 0 to 1');
  requireDuration('retry.initialBackoffMs', initialBackoffMs);
  requireDuration('retry.maxBackoffMs', maxBackoffMs);
  oneOf('onUnavailable', onUnavailable, ['deny', 'throw']);
  oneOf('pipeline', pipeline, ['auto', 'always', 'never']);
  const settings: Settings = {
    endpoints,
    deadlineMs,
    retry: { burst, ratio, initialBackoffMs, maxBackoffMs },
    onUnavailable,
    pipeline,
  };
  return { settings, apiKey: parseApiKey(options.apiKey) };
}

function oneOf(member: string, value: string, accepted: readonly string[]): void {
  if (!accepted.includes(value)) throw new ReeveInvalidRequest(`${member}: must be one of ${accepted.join(', ')}`);
}
