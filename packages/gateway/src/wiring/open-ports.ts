import { messageOf } from '@reeve/core';
import type { Config } from '../config/settings.ts';
import { StartError } from '../start-error.ts';
import type { RpcServer } from '../transports/grpc/rpc.ts';
import type { createHttpApp } from '../transports/http/app.ts';
import type { WiringContext } from './wiring-context.ts';

type Address = Config['httpAddr'];

/** The addresses that the gateway listens on. */
export interface Places {
  readonly http: string;
  readonly grpc: string;
}

/** Opens both ports; agents are answered once the gateway is ready. Closing takes no new calls and waits for those in flight. */
export async function openPorts(
  { config, opened }: WiringContext,
  rpc: RpcServer,
  app: ReturnType<typeof createHttpApp>,
  ready: () => Promise<void>,
): Promise<Places> {
  opened.defer(async () => {
    await Promise.all([rpc.drain(config.drainSecs * 1000), app.close()]);
  }, 'calls in flight');
  const http = await listening('HTTP', config.httpAddr, '--http', ({ host, port }) => app.listen({ host, port }));
  // Health can be asked before decisions can.
  await ready();
  const port = await listening('gRPC', config.grpcAddr, '--grpc', (at) => rpc.listen(at.host, at.port));
  return { http, grpc: placeText({ ...config.grpcAddr, port }) };
}

/** Listens, or fails with one line that says why. */
async function listening<Bound>(
  what: string,
  address: Address,
  option: string,
  listen: (address: Address) => Promise<Bound>,
): Promise<Bound> {
  try {
    return await listen(address);
  } catch (error) {
    throw new StartError(
      `cannot listen for ${what} on ${placeText(address)}: ${messageOf(error)}; choose another with ${option}`,
    );
  }
}

/** An address as text. */
function placeText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
