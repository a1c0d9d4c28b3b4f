import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, Answer, Operation } from '@reeve/sdk';
import { connectOut, resolveHost } from './connect-out.ts';
import type { Destination } from './destination.ts';
import { Line } from './line.ts';
import { whyNotPublic } from './public-address.ts';
import { CutError, TlsGuard } from './tls-guard.ts';

export interface Governing {
  readonly agent: Agent;
  readonly runId?: string | undefined;
  /** How long a connection waits for an approval. */
  readonly waitMs: number;
  readonly say: (line: string) => void;
}

/** What uses a connection. It ends with the promise. */
export type Use = (line: Line) => Promise<void>;

export const mostConnections = 256;

/** There is no room for a connection, or no time left for one. */
export class NoRoomError extends Error {}

/** How long the end of a program waits until its connections are reported. A paused one is only once it is resumed. */
const reportMs = 10_000;

/**
 * The connections of a program. Each is an operation: asked for before anything is resolved or opened, controlled while it
 * lasts, and completed with the bytes that have passed.
 */
export class GovernedConnections {
  readonly #how: Governing;
  readonly #open = new Map<Line, { readonly over: Promise<unknown>; readonly end: AbortController }>();
  readonly #holds = new Set<string>();
  #isShut = false;

  constructor(how: Governing) {
    this.#how = how;
  }

  /** Opens a connection for a client that may leave meanwhile. Rejects if it may not be, or cannot be had. */
  async open(to: Destination, isTunnel: boolean, gone: AbortSignal, use: Use): Promise<void> {
    if (this.#isShut) throw new NoRoomError('the program is being ended');
    if (this.#open.size >= mostConnections) throw new NoRoomError(`there are ${mostConnections} connections already`);
    const line = new Line(isTunnel ? new TlsGuard(to) : undefined);
    for (const why of this.#holds) line.hold(why);
    const end = new AbortController();
    const signal = AbortSignal.any([gone, end.signal]);
    const over = this.#carry(to, line, signal, use).finally(() => {
      line.destroy();
      this.#open.delete(line);
    });
    this.#open.set(line, { over: over.catch(() => {}), end });
    await over;
  }

  async #carry(to: Destination, line: Line, signal: AbortSignal, use: Use): Promise<void> {
    let failure: Error | undefined;
    line.on('error', (error) => {
      failure = error;
      if (error instanceof CutError)
        this.#how.say(`a connection to ${to.host} port ${to.port} was cut: ${error.message}`);
    });
    const connect = async (addresses: readonly string[], operations: readonly Operation[]) => {
      const cut = AbortSignal.any([signal, ...operations.map((each) => each.signal)]);
      const cutOff = () => line.destroy();
      try {
        line.attach(await connectOut(addresses, to.port, cut));
        cut.addEventListener('abort', cutOff, { once: true });
        if (cut.aborted) cutOff();
        await use(line);
      } finally {
        cut.removeEventListener('abort', cutOff);
        line.destroy();
        const why = failure === undefined ? '' : `; ${failure.message}`;
        for (const { note, ended } of operations) {
          note(`sent=${line.sent} received=${line.received}${why}`);
          if (failure !== undefined) ended('failed');
        }
      }
    };
    const namedOnly = isIP(to.host) !== 0 && whyNotPublic(to.host) !== undefined;
    await this.#permitted(to, namedOnly, line, signal, async (operation) => {
      const { addresses, notPublic } = await resolveHost(to.host, signal);
      const [address = ''] = addresses;
      if (notPublic === undefined || (namedOnly && address === to.host)) return connect(addresses, [operation]);
      return this.#permitted({ ...to, host: address }, true, line, signal, (other) =>
        connect(addresses, [operation, other]),
      );
    });
  }

  /** Does the work as an operation. One that still waits when nobody waits for it any more is called off. */
  async #permitted(
    { host, port, protocol }: Destination,
    namedOnly: boolean,
    line: Line,
    signal: AbortSignal,
    work: (operation: Operation) => Promise<void>,
  ): Promise<void> {
    const { agent, runId, waitMs, say } = this.#how;
    let held: Answer | undefined;
    const onHeld = (answer: Answer) => {
      held = answer;
      say(`a connection to ${host} port ${port} waits for an approval (${answer.approvalId ?? answer.reason})`);
    };
    const action = { type: 'network_call', host, port, protocol, namedOnly } as const;
    const begun = async (operation: Operation) => {
      held = undefined;
      await work(operation);
    };
    const id = `operation ${namedOnly ? 'of the address' : 'of the host'}`;
    try {
      await agent.run(action, begun, {
        runId,
        waitMs,
        signal,
        onHeld,
        onControl: (control) => {
          if (control.signal === 'pause') line.hold(id);
          else if (control.signal === 'terminate') line.destroy();
          else line.release(id);
        },
      });
    } catch (error) {
      if (held !== undefined) {
        const detail = 'nobody waits for it any more';
        await agent.complete(held.opId, { outcome: 'cancelled', actualCostMicros: 0, detail }).catch(() => {});
      }
      throw error;
    }
  }

  /** Stops the bytes of all connections, and of those to come. */
  hold(why: string): void {
    this.#holds.add(why);
    for (const line of this.#open.keys()) line.hold(why);
  }

  release(why: string): void {
    this.#holds.delete(why);
    for (const line of this.#open.keys()) line.release(why);
  }

  /** Cuts all connections. There are no more. Waits until they are reported. */
  async close(): Promise<void> {
    this.#isShut = true;
    const all = [...this.#open.values()];
    for (const { end } of all) end.abort(new NoRoomError('the program is being ended'));
    await Promise.race([Promise.all(all.map(({ over }) => over)), sleep(reportMs, undefined, { ref: false })]);
  }
}
