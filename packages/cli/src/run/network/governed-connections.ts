import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, Answer, Operation } from '@reeve/sdk';
import { ActionDeniedError } from '@reeve/sdk';
import { callOff } from '../call-off.ts';
import { connectOut, ownAddress } from './connect-out.ts';
import { Denials } from './denials.ts';
import type { Destination } from './destination.ts';
import { HostNames } from './host-names.ts';
import type { Line } from './line.ts';
import type { Lines } from './lines.ts';
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
  readonly #lines: Lines;
  readonly #names = new HostNames();
  readonly #open = new Map<Line, { readonly over: Promise<unknown>; readonly end: AbortController }>();
  readonly #denials: Denials;
  #isShut = false;

  constructor(how: Governing, lines: Lines) {
    this.#how = how;
    this.#lines = lines;
    this.#denials = new Denials(how.say);
  }

  /** Opens a connection for a client that may leave meanwhile. Rejects if it may not be, or cannot be had. */
  async open(to: Destination, isTunnel: boolean, gone: AbortSignal, use: Use): Promise<void> {
    if (this.#isShut) throw new NoRoomError('the program is being ended');
    if (this.#open.size >= mostConnections) throw new NoRoomError(`there are ${mostConnections} connections already`);
    const line = this.#lines.make(isTunnel ? new TlsGuard(to) : undefined);
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
    const connect = async (addresses: readonly string[], operations: readonly Operation[], isNamed: boolean) => {
      const cut = AbortSignal.any([signal, ...operations.map((each) => each.signal)]);
      const cutOff = () => line.destroy();
      try {
        const socket = await connectOut(line, addresses, to.port, cut);
        const own = isNamed ? undefined : ownAddress(socket);
        if (own !== undefined) {
          socket.destroy();
          return await named(own, operations);
        }
        line.attach(socket);
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
    // What is not public needs a rule that names it.
    const named = (host: string, operations: readonly Operation[]): Promise<void> =>
      this.#permitted({ ...to, host }, true, line, signal, (other) => connect([host], [...operations, other], true));
    const isNamed = isIP(to.host) !== 0 && whyNotPublic(to.host) !== undefined;
    await this.#permitted(to, isNamed, line, signal, async (operation) => {
      const cut = AbortSignal.any([signal, operation.signal]);
      await line.released(cut);
      const { addresses, notPublic } = await this.#names.resolve(to.host, cut);
      const [address = ''] = addresses;
      return notPublic === undefined || isNamed
        ? connect(addresses, [operation], isNamed)
        : named(address, [operation]);
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
      if (error instanceof ActionDeniedError) this.#denials.tell({ host, port }, error.answer);
      if (held !== undefined) await callOff(agent, held);
      throw error;
    }
  }

  /** Cuts all connections. There are no more. Waits until they are reported. */
  async close(): Promise<void> {
    this.#isShut = true;
    const all = [...this.#open.values()];
    for (const { end } of all) end.abort(new NoRoomError('the program is being ended'));
    await Promise.race([Promise.all(all.map(({ over }) => over)), sleep(reportMs, undefined, { ref: false })]);
  }
}
