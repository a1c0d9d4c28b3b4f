import { UsageError } from '../cli-error.ts';

/** Reads `HOST:PORT`. An IPv6 address stands in brackets. */
export function listenAddress(text: string, flag: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/]+)):(\d{1,5})$/.exec(text.trim()) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new UsageError(`${flag} must be HOST:PORT, not "${text}"`);
}
