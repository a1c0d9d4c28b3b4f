import { UsageError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import type { AgentName } from './agent-name.ts';
import { parseAgentName } from './agent-name.ts';
import type { GatewayFlags, GrpcGateway } from './grpc-gateway.ts';
import { grpcGateway } from './grpc-gateway.ts';
import { keptToken, registerOnce } from './kept-agents.ts';
import { checkedToken, readTokenFile } from './read-token.ts';
import type { AboutAgent } from './register-agent.ts';

/**
 * As which agent a proxy or a hook acts, and at which gateways. The one door is `resolveAgent`:
 *
 *     const { token, gateway, agentId, renew } = await resolveAgent({ shell, globals, flags: options, about });
 *     const reeve = connect(gateway);
 *     const agent = agentId === undefined ? await reeve.agent({ token }) : reeve.attach({ ...agentId, token });
 *
 * Commands add `...identityOptions` (identity-options.ts) to their options, and pass the read options as `flags`. A
 * token is never printed, and never part of an error.
 */
export interface ResolveAgent {
  readonly shell: Shell;
  readonly globals: GlobalValues;
  readonly flags: IdentityFlags;
  /** What a first registration says of the agent. */
  readonly about?: AboutAgent;
  /**
   * Whether to ask the gateway if it still knows a kept token. Default true. A hook saves the time with false, and calls
   * `renew` once if an answer of the gateway says that the token is nobody's.
   */
  readonly verify?: boolean;
}

/** As typed. */
export interface IdentityFlags extends GatewayFlags {
  readonly agent?: string | undefined;
  readonly agentTokenFile?: string | undefined;
}

export interface ResolvedAgent {
  readonly token: string;
  readonly gateway: GrpcGateway;
  /** Undefined if only the token is known. Then `reeve.agent({ token })` finds the agent. */
  readonly agentId: AgentName | undefined;
  /** Registers the agent anew, because the gateway no longer knows the token. Undefined if the token was given. */
  readonly renew: (() => Promise<ResolvedAgent>) | undefined;
}

/**
 * Finds the identity in this order: `--agent-token-file`, `--agent`, REEVE_AGENT_TOKEN, REEVE_AGENT. An agent by name is
 * registered with REEVE_API_KEY or the credential of the context, once, and its token is kept in `~/.reeve/agents.yaml`.
 * With the gateway away, a kept token is returned unverified. Throws a `CliError` with one line for people.
 */
export async function resolveAgent(request: ResolveAgent): Promise<ResolvedAgent> {
  const { shell, flags } = request;
  const gateway = grpcGateway(shell, flags);
  if (flags.agent !== undefined && flags.agentTokenFile !== undefined) {
    throw new UsageError('give --agent or --agent-token-file, not both: the token says who the agent is');
  }
  if (flags.agentTokenFile !== undefined) return given(readTokenFile(flags.agentTokenFile), gateway);
  const token = flags.agent === undefined ? variable(shell, 'REEVE_AGENT_TOKEN') : undefined;
  if (token !== undefined) return given(checkedToken(token, 'REEVE_AGENT_TOKEN'), gateway);
  return named(request, nameOf(shell, flags), gateway);
}

function given(token: string, gateway: GrpcGateway): ResolvedAgent {
  return { token, gateway, agentId: undefined, renew: undefined };
}

function nameOf(shell: Pick<Shell, 'env'>, flags: IdentityFlags): AgentName {
  if (flags.agent !== undefined) return parseAgentName(flags.agent, '--agent');
  const name = variable(shell, 'REEVE_AGENT');
  if (name !== undefined) return parseAgentName(name, 'REEVE_AGENT');
  throw new UsageError(
    'no agent: give --agent ORG/TEAM/AGENT or --agent-token-file FILE, or set REEVE_AGENT_TOKEN or REEVE_AGENT',
  );
}

async function named(request: ResolveAgent, agentId: AgentName, gateway: GrpcGateway): Promise<ResolvedAgent> {
  const folder = reeveFolder(request.shell);
  const place = { folder, addresses: gateway.addresses, agentId };
  const answer = (token: string): ResolvedAgent => ({ token, gateway, agentId, renew: () => renew(token) });
  const renew = async (refused: string | undefined) => {
    const { registerAgent } = await import('./register-agent.ts');
    return answer(await registerOnce(place, refused, () => registerAgent(request, agentId, gateway)));
  };
  const kept = await keptToken(place);
  if (kept === undefined) return renew(undefined);
  if (request.verify === false) return answer(kept);
  const { isKnownToken } = await import('./register-agent.ts');
  return (await isKnownToken(gateway, kept)) ? answer(kept) : renew(kept);
}
