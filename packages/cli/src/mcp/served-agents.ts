import type { AgentTokens } from '@reeve/proxy/mcp';
import { AgentTokenMissing } from '@reeve/proxy/mcp';
import { ReeveTokenInUse } from '@reeve/sdk';
import type { AgentName } from '../agent-identity/agent-name.ts';
import { parseAgentName } from '../agent-identity/agent-name.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { KeptToken } from '../agent-identity/kept-agents.ts';
import { isDue, keptToken, replaceOnce } from '../agent-identity/kept-agents.ts';
import type { RegisterAs } from '../agent-identity/register-agent.ts';
import { isKnownToken, registerAgent, renewToken } from '../agent-identity/register-agent.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { sharedAgentToken } from './shared-agent-token.ts';

/** For so long a token that is missing is not looked for again. */
const missingMs = 5000;

/**
 * The tokens of the agents that callers of `mcp serve` act as. An agent that is not registered is registered once, and
 * its token kept in `~/.reeve/agents.yaml`. The token of one that is registered is never replaced: whoever acts with it
 * would be cut off by a stranger's sign-in. Replicas that share keys make the token of them, and need not share the file.
 */
export class ServedAgents implements AgentTokens {
  readonly #as: RegisterAs;
  readonly #gateway: GrpcGateway;
  readonly #warn: (line: string) => void;
  readonly #keys: readonly Buffer[];
  readonly #found = new Map<string, Promise<KeptToken>>();

  constructor(as: RegisterAs, gateway: GrpcGateway, warn: (line: string) => void, keys: readonly Buffer[] = []) {
    this.#keys = keys;
    this.#as = as;
    this.#gateway = gateway;
    this.#warn = warn;
  }

  async find(agent: string): Promise<string> {
    const known = this.#found.get(agent) ?? this.#look(agent);
    const kept = await known;
    if (!isDue(kept)) return kept.token;
    const newer = this.#found.get(agent);
    return (await (newer === undefined || newer === known ? this.#look(agent) : newer)).token;
  }

  #look(agent: string): Promise<KeptToken> {
    const found = this.#resolve(agent);
    this.#found.set(agent, found);
    found.catch((error: unknown) => {
      this.#warn(error instanceof Error ? error.message : String(error));
      setTimeout(() => {
        if (this.#found.get(agent) === found) this.#found.delete(agent);
      }, missingMs).unref();
    });
    return found;
  }

  forget(agent: string, token: string): void {
    const known = this.#found.get(agent);
    void known?.then(
      (found) => {
        if (found.token === token && this.#found.get(agent) === known) this.#found.delete(agent);
      },
      () => {},
    );
  }

  /** The token that another replica has registered the agent with. */
  async #shared(agentId: AgentName): Promise<KeptToken | undefined> {
    for (const key of this.#keys) {
      const token = sharedAgentToken(key, agentId);
      if (await isKnownToken(this.#gateway, token)) return { token, life: undefined };
    }
    return undefined;
  }

  async #resolve(agent: string): Promise<KeptToken> {
    const agentId = parseAgentName(agent, 'oauth.agents');
    const place = { folder: reeveFolder(this.#as.shell), addresses: this.#gateway.addresses, agentId };
    const kept = await keptToken(place);
    if (kept !== undefined && (await isKnownToken(this.#gateway, kept.token))) {
      const renew = () => replaceOnce(place, kept.token, () => renewToken(kept, this.#gateway));
      return isDue(kept) ? await renew().catch(() => kept) : kept;
    }
    const shared = await this.#shared(agentId);
    if (shared !== undefined) return shared;
    try {
      const [key] = this.#keys;
      const token = key === undefined ? undefined : sharedAgentToken(key, agentId);
      const register = () => registerAgent({ ...this.#as, token, onlyIfNew: true }, agentId, this.#gateway);
      return await replaceOnce(place, kept?.token, register);
    } catch (error) {
      if (!(error instanceof Error) || !(error.cause instanceof ReeveTokenInUse)) throw error;
      // Another replica may have registered it just now.
      const others = await this.#shared(agentId);
      if (others !== undefined) return others;
      throw new AgentTokenMissing(
        kept === undefined
          ? `the agent ${agent} is registered, and this proxy has no token of it: put its token into ~/.reeve/agents.yaml on the proxy's machine`
          : `the gateway no longer accepts the token that this proxy has of the agent ${agent}: put its present token into ~/.reeve/agents.yaml on the proxy's machine`,
        { cause: error },
      );
    }
  }
}
