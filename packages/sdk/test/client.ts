import type { Agent, ConnectOptions, Reeve, RegisterOptions } from '../src/index.ts';
import { connect } from '../src/index.ts';
import type { Script } from './scripted-gateway.ts';
import { ScriptedGateway } from './scripted-gateway.ts';

/** A well-formed key, known only to tests. */
export const apiKey = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

export interface Client extends AsyncDisposable {
  readonly gateway: ScriptedGateway;
  readonly reeve: Reeve;
  readonly agent: Agent;
}

/** A scripted gateway, a client of it and a registered agent. */
export async function startClient(
  script: Script = {},
  options: Partial<ConnectOptions> = {},
  registration: Partial<RegisterOptions> = {},
): Promise<Client> {
  const gateway = await ScriptedGateway.start(script);
  const retry = { initialBackoffMs: 1, maxBackoffMs: 5, ...options.retry };
  const reeve = connect({ address: gateway.address, apiKey, deadlineMs: 20_000, ...options, retry });
  const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'bot', ...registration });
  return {
    gateway,
    reeve,
    agent,
    [Symbol.asyncDispose]: async () => {
      reeve.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}
