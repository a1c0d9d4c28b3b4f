import type { Agent } from '@reeve/sdk';
import type { GovernOptions } from '../govern/governor.ts';
import { governorOf } from '../govern/governor.ts';
import { JudgedTasks, TasksOfCallers } from '../judged-tasks.ts';
import { reportChanges } from '../lock/report-changes.ts';
import { ToolCatalog } from '../lock/tool-catalog.ts';
import type { ToolHashes, ToolLock } from '../lock/tool-lock.ts';
import { toolsLockedOf } from '../lock/tool-lock.ts';
import type { TokensOf } from '../auth/server-tokens.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import type { ServerSpec } from '../server-spec.ts';
import { connectTo, isCommand } from '../server-spec.ts';
import { Session } from '../session.ts';
import type { Upstream, UpstreamSession } from '../transport/upstream.ts';
import type { Caller } from './caller.ts';
import { isSameCaller } from './caller.ts';
import { FrontSession } from './front-session.ts';
import type { SealedSession, SessionSeal } from './session-seal.ts';
import { digestOf } from './session-seal.ts';
import { StatelessServer } from './stateless-server.ts';

export interface FrontSessionsOptions extends GovernOptions {
  readonly servers: ReadonlyMap<string, ServerSpec>;
  /** The lock as it is at the moment. Servers that it does not name have no tools. Undefined: nothing is locked. */
  readonly lock: () => ToolLock | undefined;
  readonly idleMs: number;
  /** Where the tokens for a server come from. */
  readonly tokensOf: TokensOf;
  /** Seals sessions into their ids, so that any replica can go on with them. Undefined: they live in this process. */
  readonly seal?: SessionSeal | undefined;
}

const mostSessions = 1000;
/** One org leaves room for the others. */
const mostOfOrg = 400;
const mostOfCaller = 100;
/** Beyond this, the oldest end is forgotten here, as other replicas have never heard of it. */
const mostEnded = 10_000;
/** How long the id of a shared session works. The client then begins a new one. */
const sharedForMs = 24 * 3600 * 1000;

/** The sessions of all clients. Each belongs to the agent that opened it, and to the person who acted as it. */
export class FrontSessions {
  readonly #options: FrontSessionsOptions;
  readonly #sessions = new Map<string, FrontSession>();
  readonly #stateless = new Map<string, StatelessServer>();
  /** Shared sessions that have ended here, until their ids end by themselves. */
  readonly #ended = new Map<string, number>();
  readonly #tasks: TasksOfCallers;

  constructor(options: FrontSessionsOptions) {
    this.#options = options;
    this.#tasks = new TasksOfCallers(options.seal !== undefined);
  }

  /** Whether other replicas go on with sessions of this one. */
  get areShared(): boolean {
    return this.#options.seal !== undefined;
  }

  /** Opens a session, or returns undefined if there are too many. `hello` is what the client says of itself. */
  open(server: string, spec: ServerSpec, caller: Caller, hello?: JsonObject): FrontSession | undefined {
    const front = new FrontSession(server, caller);
    const upstream = this.#begin(front, spec, undefined);
    const { seal } = this.#options;
    if (upstream === undefined || seal === undefined) return upstream === undefined ? undefined : front;
    const expiresAt = Date.now() + sharedForMs;
    const sealed = (known: UpstreamSession | undefined) =>
      seal.seal({
        ...{ id: front.id, server, caller: digestOf(caller), expiresAt },
        upstream: known,
        hello: isCommand(spec) ? hello : undefined,
      });
    let name: string | undefined;
    // A client that says too much of itself has a session of this replica alone.
    front.publicId = () => (name ??= sealed(upstream.session) ?? front.id);
    return front;
  }

  /** A session of that caller. What belongs to another one does not exist. */
  find(id: string, server: string, spec: ServerSpec, caller: Caller): FrontSession | undefined {
    const sealed = this.#options.seal?.open(id);
    const isOurs = sealed?.server === server && sealed.caller === digestOf(caller) && !this.#ended.has(sealed.id);
    const found = this.#sessions.get(sealed?.id ?? id) ?? (isOurs ? this.#resume(id, sealed, spec, caller) : undefined);
    if (found === undefined || found.server !== server || found.isOver) return undefined;
    if (!isSameCaller(found.caller, caller)) return undefined;
    found.usedAt = Date.now();
    found.caller = caller;
    return found;
  }

  /** Goes on with a session that another replica began. */
  #resume(name: string, sealed: SealedSession, spec: ServerSpec, caller: Caller): FrontSession | undefined {
    const front = new FrontSession(sealed.server, caller, sealed.id);
    front.publicId = () => name;
    const upstream = this.#begin(front, spec, sealed.upstream);
    if (upstream === undefined) return undefined;
    if (!isCommand(spec)) return front;
    // The process of the server is one of this replica, and has heard nothing yet.
    front.ready = front.introduce(sealed.hello ?? {});
    front.ready.catch(() => void this.close(front));
    return front;
  }

  #begin(front: FrontSession, spec: ServerSpec, resumed: UpstreamSession | undefined): Upstream | undefined {
    const { server, caller } = front;
    const ofCaller = [...this.#sessions.values()].filter((each) => isSameCaller(each.caller, caller)).length;
    if (ofCaller >= mostOfCaller || isFull(this.#sessions, caller)) return undefined;
    const { warn, seal } = this.#options;
    const tokens = this.#options.tokensOf(server);
    const governor = governorOf(server, spec, async () => front.caller.agent, this.#options);
    const onChanged = (changed: Parameters<typeof reportChanges>[1]) => void reportChanges(governor, changed);
    const catalog = new ToolCatalog({ lock: this.#lockOf(server), warn, onChanged });
    const made: { upstream?: Upstream } = {};
    const session = new Session({
      connect: (events) => (made.upstream = connectTo(spec, events, { opensStreams: false, warn, tokens, resumed })),
      tokens,
      governor,
      catalog,
      person: caller.person,
      isShared: seal !== undefined,
      // A process is one of this replica, and of this session alone.
      hearsOthers: seal !== undefined && !isCommand(spec),
      tasks: isCommand(spec) ? new JudgedTasks() : this.#tasksOf(server, spec, caller),
      unrelated: front.unrelated,
      onGone: (why) => {
        warn(`${server}: ${why.message}`);
        void this.close(front);
      },
    });
    const { upstream } = made;
    if (upstream === undefined) throw new Error('a session connects when it is made');
    front.begin(session, upstream);
    this.#sessions.set(front.id, front);
    return upstream;
  }

  stateless(server: string, spec: ServerSpec, caller: Caller): StatelessServer | undefined {
    const key = keyOf(server, caller);
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
      this.#tasksOf(server, spec, caller),
    );
    this.#stateless.set(key, made);
    return made;
  }

  #tasksOf(server: string, spec: ServerSpec, caller: Caller): JudgedTasks {
    const inUse = () => {
      const ofSessions = [...this.#sessions.values()].map((front) => keyOf(front.server, front.caller));
      return new Set([...ofSessions, ...this.#stateless.keys()]);
    };
    return this.#tasks.of(keyOf(server, caller), !isCommand(spec), inUse);
  }

  inUse(): ReadonlySet<Agent> {
    const stateless = [...this.#stateless.values()].filter(({ isBusy }) => isBusy);
    return new Set([...this.#sessions.values(), ...stateless].map(({ caller }) => caller.agent));
  }

  async close(front: FrontSession): Promise<void> {
    if (!this.#sessions.delete(front.id)) return;
    if (this.#options.seal !== undefined) this.#noteEnded(front.id);
    front.end();
    await front.session.close();
  }

  #noteEnded(id: string): void {
    this.#ended.set(id, Date.now() + sharedForMs);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** Ends what this process has of a session. Other replicas go on with it. */
  async #leave(front: FrontSession): Promise<void> {
    if (this.#options.seal === undefined) return this.close(front);
    this.#sessions.delete(front.id);
    front.leave();
    await front.session.close();
  }

  /** Ends what nobody has used for a while. */
  sweep(): void {
    const isIdle = (each: { readonly usedAt: number; readonly isBusy: boolean }) =>
      !each.isBusy && Date.now() - each.usedAt > this.#options.idleMs;
    for (const front of this.#sessions.values()) if (isIdle(front)) void this.#leave(front);
    for (const [id, until] of this.#ended) if (until < Date.now()) this.#ended.delete(id);
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
      ...[...this.#sessions.values()].map((front) => this.#leave(front)),
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

/** A caller of a server. */
function keyOf(server: string, { key }: Caller): string {
  return JSON.stringify([server, key]);
}
