import type { Reeve, TokenNeed } from '@reeve/sdk';
import { UsageError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import type { AgentName } from './agent-name.ts';
import { parseAgentName } from './agent-name.ts';
import type { GatewayFlags, GrpcGateway } from './grpc-gateway.ts';
import { grpcGateway } from './grpc-gateway.ts';
import { tokenTtlSecs } from './identity-options.ts';
import type { KeptToken, TokenLife } from './kept-agents.ts';
import { isDue, keptToken, replaceOnce } from './kept-agents.ts';
import { checkedToken, readTokenFile } from './read-token.ts';
import type { AboutAgent } from './register-agent.ts';

/**
 * As which agent a proxy or a hook acts, and at which gateways. The one door is `resolveAgent`:
 *
 *     const resolved = await resolveAgent({ shell, globals, flags: options, about });
 *     const reeve = connect(resolved.gateway);
 *     const agent = await attachedAgent(reeve, resolved, { onConnection });
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
   * Whether to ask the gateway if it still knows a kept token. Default true. A hook saves the time with false, and asks for
   * the next token if an answer of the gateway says that it does not.
   */
  readonly verify?: boolean;
  /** Makes the client that acts as the agent afterwards. If it asks whose token it is, its connection is there then. */
  readonly client?: (gateway: GrpcGateway) => Reeve;
}

/** As typed. */
export interface IdentityFlags extends GatewayFlags {
  readonly agent?: string | undefined;
  readonly agentTokenFile?: string | undefined;
  readonly agentTokenTtl?: number | undefined;
}

export interface ResolvedAgent {
  readonly token: string;
  /** When the token ends, if that is known. */
  readonly life: TokenLife | undefined;
  readonly gateway: GrpcGateway;
  /** Undefined if only the token is known. Then `reeve.agent({ token })` finds the agent. */
  readonly agentId: AgentName | undefined;
  /** Another token in place of one that is due, or that the gateway refuses: what others wrote, or a new one. */
  readonly next: (token: string, need: TokenNeed) => Promise<string | undefined>;
  /** What a person can do if the gateway refuses the token, and there is no other. */
  readonly advice: string;
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
  if (flags.agentTokenFile !== undefined) return fromFile(flags.agentTokenFile, gateway);
  const token = flags.agent === undefined ? variable(shell, 'REEVE_AGENT_TOKEN') : undefined;
  if (token !== undefined) return fromEnvironment(checkedToken(token, 'REEVE_AGENT_TOKEN'), gateway);
  return named(request, nameOf(shell, flags), gateway);
}

/** One line for people: the gateway refuses the token, and what to do. */
export function refusedToken(why: string, advice: string): string {
  return `the gateway does not accept the token of this agent (${why}): ${advice}`;
}

/** Whoever rotates the file is followed: it is read again whenever another token is needed. */
function fromFile(path: string, gateway: GrpcGateway): ResolvedAgent {
  return {
    token: readTokenFile(path),
    life: undefined,
    gateway,
    agentId: undefined,
    next: async (token) => {
      const written = readTokenFile(path);
      return written === token ? undefined : written;
    },
    advice: `write a token that works into ${path}; it is read again by itself`,
  };
}

function fromEnvironment(token: string, gateway: GrpcGateway): ResolvedAgent {
  return {
    token,
    life: undefined,
    gateway,
    agentId: undefined,
    next: async () => undefined,
    advice:
      'start again with a new REEVE_AGENT_TOKEN, or give --agent-token-file, which is read again when somebody renews it',
  };
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
  const ttlSecs = ttlOf(request);
  const registered = async (refused: string | undefined) => {
    const { registerAgent } = await import('./register-agent.ts');
    return replaceOnce(place, refused, () => registerAgent({ ...request, ttlSecs }, agentId, gateway));
  };
  const renewed = async (old: KeptToken) => {
    const { renewToken } = await import('./register-agent.ts');
    return replaceOnce(place, old.token, () => renewToken(old, gateway));
  };
  const next: ResolvedAgent['next'] = async (token, need) => {
    const kept = await keptToken(place);
    if (kept !== undefined && kept.token !== token) return kept.token;
    if (need === 'due') return kept === undefined ? undefined : (await renewed(kept)).token;
    // Two machines that register the same agent would take it from each other without end. A hook asks once.
    const isOver = kept?.life !== undefined && kept.life.expiresAt.getTime() <= Date.now();
    return request.verify === false || isOver ? (await registered(token)).token : undefined;
  };
  const answer = ({ token, life }: KeptToken): ResolvedAgent => ({
    token,
    life,
    gateway,
    agentId,
    next,
    advice: 'set REEVE_API_KEY or run "reeve login", so that it can be registered again',
  });
  const kept = await keptToken(place);
  if (kept === undefined) return answer(await registered(undefined));
  // A token that cannot be renewed now may still work.
  if (isDue(kept)) return answer(await renewed(kept).catch(() => kept));
  if (request.verify === false) return answer(kept);
  const { isKnownToken } = await import('./register-agent.ts');
  return answer(
    (await isKnownToken(gateway, kept.token, request.client?.(gateway))) ? kept : await registered(kept.token),
  );
}

/** How long the token of a new registration works. */
function ttlOf({ shell, flags }: ResolveAgent): number | undefined {
  if (flags.agentTokenTtl !== undefined) return flags.agentTokenTtl;
  const given = variable(shell, 'REEVE_AGENT_TOKEN_TTL');
  if (given === undefined) return undefined;
  const secs = Number(given);
  const { least, most } = tokenTtlSecs;
  if (Number.isInteger(secs) && secs >= least && secs <= most) return secs;
  throw new UsageError(`REEVE_AGENT_TOKEN_TTL must be a whole number of seconds from ${least} to ${most}`);
}
