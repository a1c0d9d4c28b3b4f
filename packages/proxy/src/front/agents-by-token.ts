import type { Agent, Reeve } from '@reeve/sdk';
import { ReeveUnauthenticated } from '@reeve/sdk';

export interface AgentRoom {
  /** How many agents are kept that nobody uses. */
  readonly mostIdle: number;
  /** How long an agent that nobody uses is kept. */
  readonly idleMs: number;
  /** The agents that somebody uses apart from their calls. */
  readonly inUse?: () => ReadonlySet<Agent>;
}

/** The agent of a token. */
export interface KnownAgent {
  /** Rejects with `ReeveUnauthenticated` if the token is nobody's, and with other errors if the gateway cannot say. */
  readonly agent: Promise<Agent>;
  /** Aborts when the token stops working: from then on nobody can stop what runs. */
  readonly revoked: AbortSignal;
  /** Aborts when the gateway refuses the token, although what is under way may go on with a newer one of the agent. */
  readonly refused: AbortSignal;
  /** How many calls of it are under way. Whoever makes one counts it. */
  calls: number;
  /** When somebody used it last, in the time of `performance`. */
  usedAt: number;
}

/** There is no room for further agents at the moment. */
export class TooManyAgents extends Error {}

interface Kept extends KnownAgent {
  readonly token: string;
  readonly revoking: AbortController;
  readonly refusing: AbortController;
  found: Agent | undefined;
}

const mostIdentifying = 64;
const mostRefused = 1000;
/** For so long an unknown token is not asked about again. */
const refusedMs = 5000;

/**
 * The agents that clients of a proxy act as, by their tokens. The gateway says whose a token is. From then on the agent
 * has its own heartbeats and its own control stream, until nobody has used it for some time.
 */
export class AgentsByToken {
  readonly #reeve: Reeve;
  readonly #room: AgentRoom;
  /** Those used last are at the end. */
  readonly #known = new Map<string, Kept>();
  /** Those whose token has ended while calls of them go on, with a newer token of the same agent. */
  readonly #retired = new Set<Kept>();
  /** Apart from the others: whoever makes up tokens must not take the room of agents. */
  readonly #refused = new Map<string, number>();
  readonly #sweep: NodeJS.Timeout;
  #identifying = 0;

  constructor(reeve: Reeve, room: AgentRoom) {
    this.#reeve = reeve;
    this.#room = room;
    this.#sweep = setInterval(() => this.#dropIdle(), room.idleMs / 4);
    this.#sweep.unref();
  }

  /** Throws `ReeveUnauthenticated` if the gateway did not know the token just now, or `TooManyAgents`. */
  find(token: string): KnownAgent {
    const known = this.#known.get(token) ?? this.#identify(token);
    known.usedAt = performance.now();
    this.#known.delete(token);
    this.#known.set(token, known);
    return known;
  }

  /** Forgets a token that the gateway no longer accepts. */
  forget(token: string): void {
    const known = this.#known.get(token);
    if (known !== undefined) this.#end(known);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const all = [...this.#known.values(), ...this.#retired];
    this.#known.clear();
    this.#retired.clear();
    await Promise.all(all.map(close));
  }

  #identify(token: string): Kept {
    if ((this.#refused.get(token) ?? 0) > performance.now()) throw new ReeveUnauthenticated('it is not known');
    if (this.#identifying >= mostIdentifying) throw new TooManyAgents('there is no room for further agents');
    this.#identifying++;
    const agent = this.#reeve
      .agent({
        token,
        // Other proxies may act with the same token.
        shared: true,
        nextToken: async (_, need) => (need === 'due' ? undefined : this.#newerThan(known, need)),
        onRevoked: () => this.#end(known),
      })
      .finally(() => this.#identifying--);
    const [revoking, refusing] = [new AbortController(), new AbortController()];
    const signals = { revoking, revoked: revoking.signal, refusing, refused: refusing.signal };
    const known: Kept = { token, agent, ...signals, calls: 0, found: undefined, usedAt: 0 };
    agent.then(
      (found) => {
        known.found = found;
        this.#dropIdle();
      },
      (error: unknown) => {
        if (this.#known.get(token) === known) this.#known.delete(token);
        if (error instanceof ReeveUnauthenticated) this.#refuse(token);
      },
    );
    return known;
  }

  #end(known: Kept): void {
    if (this.#known.get(known.token) === known) this.#known.delete(known.token);
    this.#retired.delete(known);
    known.revoking.abort();
    known.refusing.abort();
    void close(known);
  }

  /**
   * The gateway has refused a token. It opens nothing any more, and what is under way goes on with the newest token that
   * somebody has shown of the same agent.
   */
  #newerThan(old: Kept, need: 'check' | 'report'): string | undefined {
    const id = JSON.stringify(old.found?.id);
    const isNewer = ({ found }: Kept) => found !== undefined && !found.revoked && JSON.stringify(found.id) === id;
    const newer = [...this.#known.values()].findLast((each) => each !== old && isNewer(each));
    if (newer === undefined) return undefined;
    if (this.#known.get(old.token) === old) this.#known.delete(old.token);
    this.#retired.add(old);
    old.refusing.abort();
    return need === 'report' ? newer.token : undefined;
  }

  #refuse(token: string): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= mostRefused) this.#refused.delete(oldest);
    this.#refused.delete(token);
    this.#refused.set(token, performance.now() + refusedMs);
  }

  #dropIdle(): void {
    const { idleMs, mostIdle } = this.#room;
    const inUse = this.#room.inUse?.();
    const isIdle = ({ calls, found }: Kept) => calls === 0 && found !== undefined && inUse?.has(found) !== true;
    const idle = [...this.#known].filter(([, known]) => isIdle(known));
    const since = performance.now() - idleMs;
    const tooMany = idle.length - mostIdle;
    for (const [at, [token, { usedAt }]] of idle.entries()) if (at < tooMany || usedAt < since) this.forget(token);
    for (const retired of this.#retired) if (isIdle(retired)) this.#end(retired);
  }
}

async function close({ agent }: KnownAgent): Promise<void> {
  try {
    await (await agent).close();
  } catch {
    // It was never identified, or cannot be told good-bye.
  }
}
