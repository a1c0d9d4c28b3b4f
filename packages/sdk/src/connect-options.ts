import { parseApiKey } from './api-key.ts';
import { ReeveInvalidRequest } from './errors.ts';
import { requireDuration } from './validate.ts';

export interface TlsOptions {
  /** The trusted authorities, in PEM. The system's if left out. */
  readonly ca?: string | Buffer | undefined;
  /** The certificate and key of the client, in PEM, if the gateway asks for them. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** The name on the gateway's certificate, if it differs from the address. */
  readonly serverName?: string | undefined;
}

export interface RetryOptions {
  /** How many retries may happen at once before any answer has earned one. Default 10. 0 switches retries off. */
  readonly burst?: number | undefined;
  /** The part of a retry that each answer earns. Default 0.1: over time, one retry in ten calls. */
  readonly ratio?: number | undefined;
  /** The first retry waits up to this long, each later one up to twice as long. Default 50. */
  readonly initialBackoffMs?: number | undefined;
  /** The longest wait before a retry. Default 1000. */
  readonly maxBackoffMs?: number | undefined;
}

export interface ConnectOptions {
  /** `host:port` of the gateway's gRPC. */
  readonly address: string;
  /** Required to register agents. Attaching with a token needs none. */
  readonly apiKey?: string | undefined;
  /** On by default, except for an address on this machine. */
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
  readonly address: string;
  readonly tls: TlsOptions | undefined;
  readonly deadlineMs: number;
  readonly retry: { readonly [Name in keyof RetryOptions]-?: number };
  readonly onUnavailable: 'deny' | 'throw';
  readonly pipeline: 'auto' | 'always' | 'never';
}

/** The options with their defaults. The key is kept apart. */
export function settingsOf(options: ConnectOptions): { settings: Settings; apiKey: string | undefined } {
  const { address, retry = {}, deadlineMs = 5000, onUnavailable = 'deny', pipeline = 'auto' } = options;
  checkAddress(address);
  requireDuration('deadlineMs', deadlineMs);
  const { burst = 10, ratio = 0.1, initialBackoffMs = 50, maxBackoffMs = 1000 } = retry;
  if (!(burst >= 0)) throw new ReeveInvalidRequest('retry.burst: must not be negative');
  if (!(ratio >= 0 && ratio <= 1)) throw new ReeveInvalidRequest('retry.ratio: must be from 0 to 1');
  requireDuration('retry.initialBackoffMs', initialBackoffMs);
  requireDuration('retry.maxBackoffMs', maxBackoffMs);
  oneOf('onUnavailable', onUnavailable, ['deny', 'throw']);
  oneOf('pipeline', pipeline, ['auto', 'always', 'never']);
  const settings: Settings = {
    address,
    tls: tlsOf(options),
    deadlineMs,
    retry: { burst, ratio, initialBackoffMs, maxBackoffMs },
    onUnavailable,
    pipeline,
  };
  return { settings, apiKey: parseApiKey(options.apiKey) };
}

/** Keys and tokens travel with the calls. So plain text beyond this machine needs an explicit option. */
function tlsOf({ address, tls = !isLocal(address) }: ConnectOptions): TlsOptions | undefined {
  if (tls === false) return undefined;
  const options = tls === true ? {} : tls;
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new ReeveInvalidRequest('tls: cert and key belong together');
  }
  return options;
}

function isLocal(address: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(address) || address.startsWith('unix:');
}

function checkAddress(address: string): void {
  if (address.startsWith('unix:') || /^(\[[0-9a-f:.%]+\]|[^\s:/[\]]+):\d{1,5}$/i.test(address)) return;
  throw new ReeveInvalidRequest('address: must be host:port, without a scheme, as "127.0.0.1:50051"');
}

function oneOf(member: string, value: string, accepted: readonly string[]): void {
  if (!accepted.includes(value)) throw new ReeveInvalidRequest(`${member}: must be one of ${accepted.join(', ')}`);
}
