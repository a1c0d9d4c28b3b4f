import type { AgentTokens } from '@reeve/proxy/mcp';
import { AgentTokenMissing } from '@reeve/proxy/mcp';
import { ReeveTokenInUse } from '@reeve/sdk';
import { parseAgentName } from '../agent-identity/agent-name.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import { keptToken, registerOnce } from '../agent-identity/kept-agents.ts';
import type { RegisterAs } from '../agent-identity/register-agent.ts';
import { isKnownToken, registerAgent } from '../agent-identity/register-agent.ts';
import { reeveFolder } from '../context/reeve-folder.ts';

/** For so long a token that is missing is not looked for again. */
const missingMs = 5000;

/**
 * The tokens of the agents that callers of `mcp serve` act as. An agent that is not registered is registered once, and
 * its token kept in `~/.reeve/agents.yaml`. The token of one that is registered is never replaced: whoever acts with it
 * would be cut off by a stranger's sign-in.
 */
export class ServedAgents implements AgentTokens {
  readonly #as: RegisterAs;
  readonly #gateway: GrpcGateway;
  readonly #warn: (line: string) => void;
  readonly #found = new Map<string, Promise<string>>();

  constructor(as: RegisterAs, gateway: GrpcGateway, warn: (line: string) => void) {
    this.#as = as;
    this.#gateway = gateway;
    this.#warn = warn;
  }

  find(agent: string): Promise<string> {
    const known = this.#found.get(agent);
    if (known !== undefined) return known;
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
        if (found === token && this.#found.get(agent) === known) this.#found.delete(agent);
      },
      () => {},
    );
  }

  async #resolve(agent: string): Promise<string> {
    const agentId = parseAgentName(agent, 'oauth.agents');
    const place = { folder: reeveFolder(this.#as.shell), addresses: this.#gateway.addresses, agentId };
    const kept = await keptToken(place);
    if (kept !== undefined && (await isKnownToken(this.#gateway, kept))) return kept;
    try {
      const register = () => registerAgent({ ...this.#as, onlyIfNew: true }, agentId, this.#gateway);
      return await registerOnce(place, kept, register);
    } catch (error) {
      if (!(error instanceof Error) || !(error.cause instanceof ReeveTokenInUse)) throw error;
      throw new AgentTokenMissing(
        `the agent ${agent} is registered, and this proxy has no token of it: put its token into ~/.reeve/agents.yaml on the proxy's machine`,
        { cause: error },
      );
    }
  }
}
