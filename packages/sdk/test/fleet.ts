import type { Agent, ConnectOptions, Reeve, RegisterOptions } from '../src/index.ts';
import { connect } from '../src/index.ts';
import { apiKey } from './client.ts';
import type { Script } from './scripted-gateway.ts';
import { ScriptedGateway } from './scripted-gateway.ts';

export interface Fleet extends AsyncDisposable {
  readonly gateways: readonly ScriptedGateway[];
  /** The gateway that the client chose at first. */
  readonly first: ScriptedGateway;
  /** The one that follows it in the list. */
  readonly second: ScriptedGateway;
  readonly reeve: Reeve;
  readonly agent: Agent;
}

/** Scripted gateways with one script, a client of all of them and a registered agent. */
export async function startFleet(
  count: number,
  script: Script = {},
  options: Partial<ConnectOptions> = {},
  registration: Partial<RegisterOptions> = {},
): Promise<Fleet> {
  const gateways = await Promise.all(Array.from({ length: count }, () => ScriptedGateway.start({ ...script })));
  const addresses = gateways.map(({ address }) => address);
  const retry = { initialBackoffMs: 1, maxBackoffMs: 5, ...options.retry };
  const reeve = connect({ addresses, apiKey, deadlineMs: 20_000, ...options, retry });
  const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'bot', ...registration });
  const at = gateways.findIndex((gateway) => gateway.count('registerAgent') > 0);
  const [first, second] = [gateways[at], gateways[(at + 1) % count]];
  if (first === undefined || second === undefined) throw new Error('no gateway has registered the agent');
  return {
    gateways,
    first,
    second,
    reeve,
    agent,
    [Symbol.asyncDispose]: async () => {
      reeve.close();
      for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
    },
  };
}
