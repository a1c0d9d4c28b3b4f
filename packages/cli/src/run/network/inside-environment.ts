import { closeSync, openSync, readSync } from 'node:fs';
import { insideHost, insidePorts } from './inside-ports.ts';

/** A token for who acts inside. The gateway takes it as that of a delegate. */
export function insideToken(): string {
  return `rva_${randomBytes(32).toString('base64url')}`;
}

/** The variables by which programs find the way out. The name `localhost` means inside, and 127.0.0.1 the machine outside. */
export function insideEnvironment(token: string): Readonly<Record<string, string>> {
  const url = `http://${insideHost}:${insidePorts.proxy}`;
  const proxies = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: `localhost,${insideHost}` };
  return {
    ...proxies,
    ...Object.fromEntries(Object.entries(proxies).map(([name, value]) => [name.toLowerCase(), value])),
    REEVE_GRPC_ADDR: `${insideHost}:${insidePorts.gateway}`,
    REEVE_AGENT_TOKEN: token,
  };
}

/** By the kernel itself: bubblewrap would have to wait until Node has loaded its own way. */
export function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const source = openSync('/dev/urandom', 'r');
  try {
    if (readSync(source, bytes) !== length) throw new Error('the kernel gave too few random bytes');
    return bytes;
  } finally {
    closeSync(source);
  }
}
