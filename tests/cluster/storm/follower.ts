import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Chance } from '../../trust/chance.ts';
import type { Followed } from '../checker/followers.ts';
import type { Cluster } from './cluster.ts';

interface FollowerOptions {
  readonly name: string;
  readonly key: string;
  readonly org?: string;
  /** All of them if there are none. */
  readonly types?: string;
}

interface Message {
  readonly event_type: string;
  readonly id: number;
  readonly cursor: number;
  readonly agent_id: string | null;
  readonly org_id: string | null;
  readonly team_id: string | null;
  readonly payload: { readonly op_id: string; readonly state: string };
}

/** Long enough for a gateway that is cut off from the database to answer, and short enough not to wait for a dead one. */
const openWithinMs = 4000;

/** Follows the events, and goes on at another gateway from the last id it saw, whenever it likes or has to. */
export class Follower implements Followed {
  readonly name: string;
  readonly org?: string;
  readonly seesAll: boolean;
  readonly events: { id: number; transition?: { op: string; state: string } }[] = [];
  cursor = 0;
  gaps = 0;
  connections = 0;
  /** Where each connection was made, and with which first event, for whoever searches a fault. */
  readonly trail: string[] = [];
  readonly #cluster: Cluster;
  readonly #chance: Chance;
  readonly #options: FollowerOptions;
  #isStopped = false;
  #socket: WebSocket | undefined;

  constructor(cluster: Cluster, chance: Chance, options: FollowerOptions) {
    this.#cluster = cluster;
    this.#chance = chance;
    this.#options = options;
    this.name = options.name;
    if (options.org !== undefined) this.org = options.org;
    this.seesAll = options.types === undefined && options.org === undefined;
  }

  /** Resolves once the first stream is open. */
  async start(): Promise<{ readonly ended: Promise<void> }> {
    while (!(await this.#open())) await sleep(50);
    return { ended: this.#follow() };
  }

  stop(): void {
    this.#isStopped = true;
    this.#socket?.terminate();
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      await this.#closedOr(this.#chance.between(500, 4000));
      this.#socket?.terminate();
      while (!this.#isStopped && !(await this.#open())) await sleep(this.#chance.between(20, 100));
    }
    this.#socket?.terminate();
  }

  async #closedOr(ms: number): Promise<void> {
    const socket = this.#socket;
    const over = new AbortController();
    const closed = new Promise<void>((resolve) => socket?.once('close', () => resolve()));
    await Promise.race([closed, sleep(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  /** Whether the stream is open and has said hello. */
  async #open(): Promise<boolean> {
    const node = this.#chance.oneOf(this.#cluster.nodes);
    if (node === undefined) throw new Error('there is no gateway');
    const { key, types } = this.#options;
    const isFirst = this.connections === 0;
    const since = this.events.at(-1)?.id ?? this.cursor;
    const query = new URLSearchParams({
      ...(types === undefined ? {} : { types }),
      ...(isFirst ? {} : { since: String(since) }),
    });
    const url = `${node.http.replace('http', 'ws')}/api/v1/ws/events?${query.toString()}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
    this.#socket = socket;
    return await new Promise<boolean>((resolve) => {
      const fail = () => {
        socket.terminate();
        resolve(false);
      };
      const timer = setTimeout(fail, openWithinMs);
      socket.on('error', fail);
      socket.on('close', fail);
      socket.on('message', (data: Buffer) => {
        // Whatever still arrives from an abandoned connection was not seen.
        if (this.#socket !== socket || this.#isStopped) return;
        const message = JSON.parse(data.toString()) as Message;
        if (message.event_type === 'hello') {
          clearTimeout(timer);
          if (isFirst) this.cursor = message.cursor;
          this.connections++;
          this.trail.push(`${node.name} since ${since}, newest ${message.cursor}`);
          resolve(true);
        } else this.#take(message);
      });
    });
  }

  #take({ event_type, id, org_id, team_id, agent_id, payload }: Message): void {
    if (event_type === 'gap') this.gaps++;
    else if (event_type !== 'ops_change') this.events.push({ id });
    else {
      const op = `${org_id}/${team_id}/${agent_id} ${payload.op_id}`;
      this.events.push({ id, transition: { op, state: payload.state } });
    }
  }
}
