import type { Agent, Reeve } from '@reeve/sdk';
import { ReeveUnauthenticated } from '@reeve/sdk';
import { Refusal } from './refusal.ts';
import { badToken } from './refusal-of.ts';

export interface AgentLimits {
  /** How many calls of one agent are under way at most. */
  readonly calls: number;
  /** How many agents are kept that make no call. */
  readonly idleAgents: number;
  /** How long an agent that makes no call is kept. */
  readonly idleMs: number;
}

interface Known {
  readonly agent: Promise<Agent>;
  readonly revoked: AbortController;
  calls: number;
  usedAt: number;
}

const mostIdentifying = 64;
const mostRefused = 1000;
/** For so long an unknown token is not asked about again. */
const refusedMs = 5000;

/**
 * The agents that call models, by their tokens. The gateway says whose a token is. From then on the agent has its own
 * heartbeats and its own control stream, until it has made no call for some time.
 */
export class ModelAgents {
  readonly #reeve: Reeve;
  readonly #limits: AgentLimits;
  /** Those used last are at the end. */
  readonly #known = new Map<string, Known>();
  readonly #refused = new Map<string, number>();
  readonly #sweep: NodeJS.Timeout;
  #identifying = 0;

  constructor(reeve: Reeve, limits: AgentLimits) {
    this.#reeve = reeve;
    this.#limits = limits;
    this.#sweep = setInterval(() => this.#dropIdle(), limits.idleMs / 4);
    this.#sweep.unref();
  }

  /**
   * Acts as the agent of a token, with a signal for the end of the token: from then on nobody can stop what runs. Throws a
   * refusal, or an error of the SDK, if the agent cannot be identified.
   */
  async acting<Result>(token: string, act: (agent: Agent, revoked: AbortSignal) => Promise<Result>): Promise<Result> {
    const known = this.#known.get(token) ?? this.#identify(token);
    if (known.calls >= this.#limits.calls) {
      throw new Refusal('too_many_calls', `the agent has ${this.#limits.calls} calls under way already`);
    }
    known.calls++;
    this.#known.delete(token);
    this.#known.set(token, known);
    try {
      return await act(await known.agent, known.revoked.signal);
    } finally {
      known.calls--;
      known.usedAt = performance.now();
    }
  }

  /** Forgets a token that the gateway no longer accepts. */
  forget(token: string): void {
    const known = this.#known.get(token);
    this.#known.delete(token);
    known?.revoked.abort();
    if (known !== undefined) void close(known);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const all = [...this.#known.values()];
    this.#known.clear();
    await Promise.all(all.map(close));
  }

  #identify(token: string): Known {
    if ((this.#refused.get(token) ?? 0) > performance.now()) throw badToken('it is not known');
    if (this.#identifying >= mostIdentifying) {
      throw new Refusal('overloaded', 'there is no room for further agents at the moment');
    }
    this.#identifying++;
    const agent = this.#reeve
      .agent({ token, shared: true, onRevoked: () => this.forget(token) })
      .finally(() => this.#identifying--);
    const known: Known = { agent, revoked: new AbortController(), calls: 0, usedAt: performance.now() };
    agent.catch((error: unknown) => {
      if (this.#known.get(token) === known) this.#known.delete(token);
      if (error instanceof ReeveUnauthenticated) this.#refuse(token);
    });
    this.#dropIdle();
    return known;
  }

  #refuse(token: string): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= mostRefused) this.#refused.delete(oldest);
    this.#refused.delete(token);
    this.#refused.set(token, performance.now() + refusedMs);
  }

  #dropIdle(): void {
    const idle = [...this.#known].filter(([, { calls }]) => calls === 0);
    const since = performance.now() - this.#limits.idleMs;
    const tooMany = idle.length - this.#limits.idleAgents;
    for (const [at, [token, { usedAt }]] of idle.entries()) if (at < tooMany || usedAt < since) this.forget(token);
  }
}

async function close({ agent }: Known): Promise<void> {
  try {
    await (await agent).close();
  } catch {
    // It was never identified, or cannot be told good-bye.
  }
}
