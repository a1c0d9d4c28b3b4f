import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import type { ResolveAgent } from '../agent-identity/resolve-agent.ts';
import { resolveAgent } from '../agent-identity/resolve-agent.ts';

/** The agent in whose name a proxy acts. The gateway may be away at the start; then each call tries again. */
export class ActingAgent {
  readonly #request: ResolveAgent;
  #reeve: Reeve | undefined;
  #found: Promise<Agent> | undefined;

  constructor(request: ResolveAgent) {
    this.#request = request;
  }

  readonly find = (): Promise<Agent> => {
    this.#found ??= this.#resolve().catch((error: unknown) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  };

  /** Delivers what the gateway must still hear of. */
  async close(): Promise<void> {
    const agent = await this.#found?.catch(() => undefined);
    await agent?.close();
    this.#reeve?.close();
  }

  async #resolve(): Promise<Agent> {
    const { token, gateway, agentId } = await resolveAgent(this.#request);
    this.#reeve ??= connect(gateway);
    // Each MCP server of a client has a proxy of its own, and all of them act as one agent.
    const how = { token, shared: true, onConnection: () => {} };
    return agentId === undefined ? this.#reeve.agent(how) : this.#reeve.attach({ ...agentId, ...how });
  }
}
