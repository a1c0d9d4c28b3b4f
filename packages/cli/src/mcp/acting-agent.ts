import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { attachedAgent } from '../agent-identity/attached-agent.ts';
import type { ResolveAgent } from '../agent-identity/resolve-agent.ts';
import { resolveAgent } from '../agent-identity/resolve-agent.ts';

/**
 * The agent in whose name a proxy acts. The gateway may be away at the start, or refuse the token later; then each call
 * tries again, with the identity as it is then.
 */
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
    const resolved = await resolveAgent(this.#request);
    this.#reeve ??= connect(resolved.gateway);
    // Each MCP server of a client has a proxy of its own, and all of them act as one agent.
    return attachedAgent(this.#reeve, resolved, {
      onConnection: () => {},
      onRevoked: () => (this.#found = undefined),
    });
  }
}
