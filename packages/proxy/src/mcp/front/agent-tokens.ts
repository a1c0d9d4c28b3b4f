import { createHash } from 'node:crypto';
import type { Agent, Reeve } from '@reeve/sdk';
import { ReeveUnauthenticated } from '@reeve/sdk';

interface Known {
  readonly agent: Promise<Agent>;
  usedAt: number;
}

const mostAgents = 1000;
const mostIdentifying = 64;
/** A token that is nobody's is not asked about again at once. */
const refusedMs = 5000;
const mostRefused = 1000;

/** The agents whose tokens clients bring. Each is one agent of the SDK, however many sessions it has. */
export class AgentTokens {
  readonly #reeve: Reeve;
  readonly #known = new Map<string, Known>();
  /** Apart from the others: whoever makes up tokens must not take the room of agents. */
  readonly #refused = new Map<string, number>();
  #identifying = 0;

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
    if ((this.#refused.get(key) ?? 0) > Date.now()) throw new ReeveUnauthenticated('unknown token');
    if (this.#known.size >= mostAgents || this.#identifying >= mostIdentifying)
      throw new Error('too many agents at once');
    this.#identifying++;
    // Other proxies may act with the same token.
    const agent = this.#reeve.agent({ token, shared: true, onConnection: () => {} }).finally(() => this.#identifying--);
    this.#known.set(key, { agent, usedAt: Date.now() });
    agent.catch((error: unknown) => {
      if (this.#known.get(key)?.agent === agent) this.#known.delete(key);
      if (error instanceof ReeveUnauthenticated) this.#refuse(key);
    });
    return agent;
  }

  #refuse(key: string): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= mostRefused) this.#refused.delete(oldest);
    this.#refused.delete(key);
    this.#refused.set(key, Date.now() + refusedMs);
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
