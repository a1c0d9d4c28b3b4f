import { createHash } from 'node:crypto';
import type { Agent, Reeve } from '@reeve/sdk';
import { ReeveUnauthenticated } from '@reeve/sdk';

interface Known {
  readonly agent: Promise<Agent>;
  usedAt: number;
}

const mostAgents = 1000;
/** A token that is nobody's is not asked about again at once. */
const refusedMs = 5000;

/** The agents whose tokens clients bring. Each is one agent of the SDK, however many sessions it has. */
export class AgentTokens {
  readonly #reeve: Reeve;
  readonly #known = new Map<string, Known>();

  constructor(reeve: Reeve) {
    this.#reeve = reeve;
  }

  /** Throws `ReeveUnauthenticated` if the token is nobody's, and other errors if the gateway cannot say. */
  async find(token: string): Promise<Agent> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.usedAt = Date.now();
      const agent = await known.agent;
      if (!agent.revoked) return agent;
      this.#drop(key);
    }
    if (this.#known.size >= mostAgents) throw new Error('too many agents at once');
    // Other proxies may act with the same token.
    const agent = this.#reeve.agent({ token, shared: true, onConnection: () => {} });
    this.#known.set(key, { agent, usedAt: Date.now() });
    agent.catch((error: unknown) => {
      const keepMs = error instanceof ReeveUnauthenticated ? refusedMs : 0;
      setTimeout(() => this.#known.get(key)?.agent === agent && this.#known.delete(key), keepMs).unref();
    });
    return agent;
  }

  /** Lets go of agents that nobody has used for a while. */
  sweep(idleMs: number, isInUse: (agent: Agent) => boolean): void {
    for (const [key, { agent, usedAt }] of this.#known) {
      if (Date.now() - usedAt < idleMs) continue;
      void agent.then((found) => isInUse(found) || this.#drop(key)).catch(() => {});
    }
  }

  async close(): Promise<void> {
    const all = [...this.#known.values()];
    this.#known.clear();
    await Promise.allSettled(all.map(async ({ agent }) => (await agent).close()));
  }

  #drop(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    void known?.agent.then((agent) => agent.close()).catch(() => {});
  }
}
