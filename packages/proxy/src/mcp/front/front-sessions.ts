import type { Agent } from '@reeve/sdk';
import type { GovernOptions } from '../govern/governor.ts';
import { governorOf } from '../govern/governor.ts';
import { reportChanges } from '../lock/report-changes.ts';
import { ToolCatalog } from '../lock/tool-catalog.ts';
import type { ToolHashes, ToolLock } from '../lock/tool-lock.ts';
import { toolsLockedOf } from '../lock/tool-lock.ts';
import type { TokensOf } from '../auth/server-tokens.ts';
import type { ServerSpec } from '../server-spec.ts';
import { connectTo } from '../server-spec.ts';
import { Session } from '../session.ts';
import type { Caller } from './caller.ts';
import { isSameCaller } from './caller.ts';
import { FrontSession } from './front-session.ts';
import { StatelessServer } from './stateless-server.ts';

export interface FrontSessionsOptions extends GovernOptions {
  readonly servers: ReadonlyMap<string, ServerSpec>;
  /** The lock as it is at the moment. Servers that it does not name have no tools. Undefined: nothing is locked. */
  readonly lock: () => ToolLock | undefined;
  readonly idleMs: number;
  /** Where the tokens for a server come from. */
  readonly tokensOf: TokensOf;
}

const mostSessions = 1000;
/** One org leaves room for the others. */
const mostOfOrg = 400;
const mostOfCaller = 100;

/** The sessions of all clients. Each belongs to the agent that opened it, and to the person who acted as it. */
export class FrontSessions {
  readonly #options: FrontSessionsOptions;
  readonly #sessions = new Map<string, FrontSession>();
  readonly #stateless = new Map<string, StatelessServer>();

  constructor(options: FrontSessionsOptions) {
    this.#options = options;
  }

  /** Opens a session, or returns undefined if there are too many. */
  open(server: string, spec: ServerSpec, caller: Caller): FrontSession | undefined {
    const ofCaller = [...this.#sessions.values()].filter((each) => isSameCaller(each.caller, caller)).length;
    if (ofCaller >= mostOfCaller || isFull(this.#sessions, caller)) return undefined;
    const { warn } = this.#options;
    const tokens = this.#options.tokensOf(server);
    const front = new FrontSession(server, caller);
    const governor = governorOf(server, spec, async () => front.caller.agent, this.#options);
    const onChanged = (changed: Parameters<typeof reportChanges>[1]) => void reportChanges(governor, changed);
    const catalog = new ToolCatalog({ lock: this.#lockOf(server), warn, onChanged });
    const session = new Session({
      connect: (events) => connectTo(spec, events, { opensStreams: false, warn, tokens }),
      tokens,
      governor,
      catalog,
      unrelated: front.unrelated,
      onGone: (why) => {
        warn(`${server}: ${why.message}`);
        void this.close(front);
      },
    });
    front.begin(session);
    this.#sessions.set(front.id, front);
    return front;
  }

  /** A session of that caller. What belongs to another one does not exist. */
  find(id: string, server: string, caller: Caller): FrontSession | undefined {
    const found = this.#sessions.get(id);
    if (found === undefined || found.server !== server || found.isOver) return undefined;
    if (!isSameCaller(found.caller, caller)) return undefined;
    found.usedAt = Date.now();
    found.caller = caller;
    return found;
  }

  stateless(server: string, spec: ServerSpec, caller: Caller): StatelessServer | undefined {
    const key = JSON.stringify([server, caller.key]);
    const known = this.#stateless.get(key);
    if (known !== undefined) {
      known.caller = caller;
      return known;
    }
    if (isFull(this.#stateless, caller)) return undefined;
    const governor = governorOf(server, spec, async () => made.caller.agent, this.#options);
    const made: StatelessServer = new StatelessServer(
      spec,
      caller,
      governor,
      this.#lockOf(server),
      this.#options.tokensOf(server),
    );
    this.#stateless.set(key, made);
    return made;
  }

  inUse(): ReadonlySet<Agent> {
    const stateless = [...this.#stateless.values()].filter(({ isBusy }) => isBusy);
    return new Set([...this.#sessions.values(), ...stateless].map(({ caller }) => caller.agent));
  }

  async close(front: FrontSession): Promise<void> {
    if (!this.#sessions.delete(front.id)) return;
    front.end();
    await front.session.close();
  }

  /** Ends what nobody has used for a while. */
  sweep(): void {
    const isIdle = (each: { readonly usedAt: number; readonly isBusy: boolean }) =>
      !each.isBusy && Date.now() - each.usedAt > this.#options.idleMs;
    for (const front of this.#sessions.values()) if (isIdle(front)) void this.close(front);
    for (const [key, server] of this.#stateless) {
      if (!isIdle(server)) continue;
      this.#stateless.delete(key);
      void server.close();
    }
  }

  async closeAll(): Promise<void> {
    const stateless = [...this.#stateless.values()];
    this.#stateless.clear();
    await Promise.allSettled([
      ...[...this.#sessions.values()].map((front) => this.close(front)),
      ...stateless.map((server) => server.close()),
    ]);
  }

  #lockOf(server: string): () => ToolHashes | undefined {
    return () => toolsLockedOf(this.#options.lock(), server);
  }
}

/** Whether there is no room for another one of the agent's org. */
function isFull(held: ReadonlyMap<string, { readonly caller: Caller }>, { agent }: Caller): boolean {
  if (held.size >= mostSessions) return true;
  const ofOrg = [...held.values()].filter(({ caller }) => caller.agent.id.orgId === agent.id.orgId).length;
  return ofOrg >= mostOfOrg;
}
