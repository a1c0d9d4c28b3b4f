import { HeartbeatRequest, paths } from '@reeve/contract';
import { ServerReflectionRequest } from '@reeve/contract/reflection';
import { settingId } from '../../packages/grpc-server/src/http2/frame.ts';
import { settingsFrame } from '../../packages/grpc-server/src/http2/settings.ts';
import { data, emptySettings, framed, RawClient, request } from '../../packages/grpc-server/src/testkit/raw-client.ts';
import type { Registered } from './gateway.ts';

const noWindow = settingsFrame([[settingId.initialWindowSize, 0]]);
/** Calls of one connection, of which each gets one answer. */
const callsAtOnce = 400;

export interface Unread {
  readonly connections: number;
  readonly calls: number;
  /** The symbol that reflection is asked for. An unknown one comes back several times in the answer. */
  readonly symbol: string;
  /** Whose credential the connections show first; undefined: none. */
  readonly agent?: Registered | undefined;
}

/** Opens connections that ask for answers and take none, until they are closed or have asked for all. */
export async function leaveUnread(grpc: string, unread: Unread): Promise<readonly RawClient[]> {
  const port = Number(grpc.split(':').at(-1));
  return await Promise.all(Array.from({ length: unread.connections }, () => askAndLeave(port, unread)));
}

async function askAndLeave(port: number, { calls, symbol, agent }: Unread): Promise<RawClient> {
  const client = await RawClient.open(port, emptySettings);
  if (agent !== undefined) {
    const beat = HeartbeatRequest.encode({ agentId: agent.id, credentialToken: agent.token }).finish();
    client.write(request(1, paths.heartbeat), data(1, framed(beat), true));
    await client.answer(1);
  }
  client.write(noWindow);
  const asked = ServerReflectionRequest.encode({
    host: '',
    messageRequest: { $case: 'fileContainingSymbol', value: symbol },
  }).finish();
  for (let call = 0; call < calls && !client.isClosed; call++) {
    const id = 2 * call + 3;
    client.write(request(id, paths.reflectionV1), data(id, framed(asked)));
    if (call % callsAtOnce === callsAtOnce - 1) await client.settled(`at ${String(call).padStart(5)}`);
  }
  return client;
}
