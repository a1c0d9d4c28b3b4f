import { bareHost } from '@reeve/contract/host-name';
import { UsageError } from '../cli-error.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:8090`, `[::1]:8090`, or `:8090` for all addresses. */
export function listenAddress(text: string, flag: string): ListenAddress {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]\s]*):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) {
    throw new UsageError(`${flag} must be host:port, as in 127.0.0.1:8090 or [::1]:8090, not "${text}"`);
  }
  const host = bareHost(match[1] ?? '');
  return { host: host === '' ? '0.0.0.0' : host, port };
}
