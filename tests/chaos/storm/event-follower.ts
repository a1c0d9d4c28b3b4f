import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { ReeveEvent } from '@reeve/contract/events';
import { expect } from 'vitest';
import { EventSocket } from '../../harness/event-socket.ts';
import { isCutOff } from './storm-operator.ts';
import type { Transition } from './transitions.ts';
import type { World } from './world.ts';
import { between } from './world.ts';

type OpList = RouteOutput<Routes['listOps']>;

export interface FollowerOptions {
  readonly key: string;
  /** Whether it connects with a ticket, as a browser would. */
  readonly byTicket?: boolean;
  /** Whether it drops its connection now and then. */
  readonly hops?: boolean;
  readonly types?: string;
}

/** What arrived over one connection. */
interface Visit {
  readonly run: number;
  readonly socket: EventSocket;
}

/** Follows the events over WebSockets, resumes by cursor, and lists again after a gap. */
export class EventFollower {
  readonly #world: World;
  readonly #options: FollowerOptions;
  readonly #visits: Visit[] = [];
  /** The state of each operation when it was listed again, by run of the gateway. */
  readonly #listed = new Map<number, Promise<Map<string, string> | undefined>>();
  #stopped = false;

  constructor(world: World, options: FollowerOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Opens the first stream. The others follow by themselves until it is stopped. */
  async start(): Promise<{ ended: Promise<void> }> {
    const first = await this.#open();
    return { ended: this.#follow(first) };
  }

  stop(): void {
    this.#stopped = true;
    this.#visits.at(-1)?.socket.close();
  }

  get visits(): number {
    return this.#visits.length;
  }

  /** Whether it has heard of a transition in a run of the gateway. */
  hasHeardIn(run: number): boolean {
    return this.#visits.some((visit) => visit.run === run && visit.socket.events.flatMap(transitionOf).length > 0);
  }

  /** The transitions reported in a run of the gateway, in order, each once. */
  history(run: number): Transition[] {
    const visits = this.#visits.filter((visit) => visit.run === run);
    const events = visits.flatMap(({ socket }) => socket.events);
    const ids = events.map(({ id }) => id);
    expect(ids, 'ids grow').toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    // A gap is reported exactly if the gateway was killed since the last known event.
    for (const [nth, { socket }] of visits.entries()) {
      const knowsRun = run === 0 || visits.slice(0, nth).some((before) => before.socket.events.length > 0);
      expect(socket.hasGap, `gap at visit ${nth} of run ${run}`).toBe(!knowsRun);
    }
    return events.flatMap(transitionOf);
  }

  /** Its view of the truth: the list after the gap, and the events since. */
  async view(run: number): Promise<Record<string, string>> {
    const listed = await this.#listed.get(run);
    const states = new Map(listed);
    for (const { op, state } of this.history(run)) states.set(op, state);
    return Object.fromEntries(states);
  }

  /** Every operation that it may see, by its full id. */
  async list(): Promise<Record<string, string>> {
    return Object.fromEntries(await this.#list());
  }

  async #follow(first: EventSocket): Promise<void> {
    let socket: EventSocket | undefined = first;
    while (!this.#stopped) {
      if (socket === undefined) await sleep(50);
      else if (this.#options.hops === true) {
        await Promise.race([socket.closed, sleep(between(300, 1200))]);
        if (Math.random() < 0.5) socket.socket.terminate();
        else socket.close();
      }
      await socket?.closed;
      if (!this.#stopped) socket = await this.#tryToOpen();
    }
  }

  /** Undefined if the gateway is away, or was killed meanwhile. */
  async #tryToOpen(): Promise<EventSocket | undefined> {
    const { run } = this.#world;
    try {
      return await this.#open();
    } catch (error) {
      if (run === this.#world.run) return notThere(error);
      return undefined;
    }
  }

  async #open(): Promise<EventSocket> {
    const { run } = this.#world;
    const { key, byTicket, types } = this.#options;
    const since = this.#cursor();
    const ticket = byTicket === true ? await this.#ticket() : undefined;
    const socket = await EventSocket.open(this.#world.gateway.http, {
      ...(ticket === undefined ? { bearer: key } : {}),
      query: {
        ...(ticket === undefined ? {} : { ticket }),
        ...(types === undefined ? {} : { types }),
        ...(since === undefined ? {} : { since: String(since) }),
      },
    });
    this.#visits.push({ run, socket });
    if (run > 0 && !this.#listed.has(run)) this.#listed.set(run, this.#list().catch(notThere));
    return socket;
  }

  /** The newest event that it knows. */
  #cursor(): number | undefined {
    const newest = this.#visits.findLast(({ socket }) => socket.events.length > 0);
    return newest?.socket.events.at(-1)?.id ?? this.#visits[0]?.socket.cursor;
  }

  async #ticket(): Promise<string> {
    const { api } = this.#world.gateway;
    const { body } = await api.post<RouteOutput<Routes['wsTicket']>>('/api/v1/auth/ws-ticket', this.#options.key);
    return body.ticket;
  }

  async #list(): Promise<Map<string, string>> {
    const states = new Map<string, string>();
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const path = `/api/v1/ops?per_page=1000${query}`;
      const { body } = await this.#world.gateway.api.get<OpList>(path, this.#options.key);
      for (const { agent, op_id, state } of body.items) states.set(`${agent.agent_id} ${op_id}`, state);
      cursor = body.next_cursor;
    } while (cursor !== null);
    return states;
  }
}

function transitionOf(event: ReeveEvent): Transition[] {
  if (event.event_type !== 'ops_change') return [];
  return [{ op: `${event.agent_id} ${event.payload.op_id}`, state: event.payload.state }];
}

/** The gateway is away. Anything else is an error. */
function notThere(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (isCutOff(error) || code === 'ECONNREFUSED' || code === 'ECONNRESET') return undefined;
  throw error;
}
