import type { ServerCall } from './calls/server-call.ts';
import { StreamServerCall } from './calls/stream-call.ts';
import type { Connection } from './connection.ts';
import { errorCode } from './http2/frame.ts';
import type { Limits } from './limits.ts';

/** How long a connection that is closing may take to send its last bytes. */
const closeWithinMs = 2000;

/** Others have their turn after so many calls were looked at. */
const portion = 2000;
/** Above this share of all connections, those of strangers may be idle only as long as a preface may take. */
const nearlyFull = 0.75;

/** Looks after all connections, now and then: cuts off what takes too long, and asks silent peers whether they are there. */
export class ConnectionCare {
  readonly #connections: ReadonlySet<Connection>;
  readonly #limits: Limits;
  #round: Iterator<Connection> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(connections: ReadonlySet<Connection>, limits: Limits) {
    this.#connections = connections;
    this.#limits = limits;
  }

  start(everyMs: number): void {
    this.#timer = setInterval(() => this.#begin(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#round = undefined;
  }

  /** Begins a round, unless one is under way. */
  #begin(): void {
    if (this.#round !== undefined) return;
    this.#round = this.#connections.values();
    this.#goOn();
  }

  #goOn(): void {
    const now = performance.now();
    const { idleForMs, prefaceWithinMs, connections } = this.#limits;
    const isNearlyFull = this.#connections.size > connections * nearlyFull;
    const limits = isNearlyFull ? { ...this.#limits, idleForMs: Math.min(idleForMs, prefaceWithinMs) } : this.#limits;
    for (let looked = 0; looked < portion; ) {
      const next = this.#round?.next();
      if (next === undefined || next.done === true) {
        this.#round = undefined;
        return;
      }
      looked += 1 + next.value.streams.calls.size;
      careFor(next.value, limits, now);
    }
    setImmediate(() => this.#goOn());
  }
}

/** Looks after one connection. */
export function careFor(connection: Connection, limits: Limits, now: number): void {
  const { closingSince, prefaceSince, unfinishedSince, blockedSince, streams } = connection;
  const overdue = now - limits.finishWithinMs;
  if (closingSince !== undefined) {
    if (closingSince <= now - closeWithinMs) connection.destroy();
  } else if (prefaceSince !== undefined && prefaceSince <= now - limits.prefaceWithinMs) {
    connection.destroy();
  } else if (unfinishedSince !== undefined && unfinishedSince <= overdue) {
    connection.end(errorCode.enhanceYourCalm, 'a frame or header block was not finished in time');
  } else if (blockedSince !== undefined && blockedSince <= overdue) {
    connection.destroy();
  } else if (untakenMs(connection, now) > limits.takeWithinMs) {
    connection.destroy();
  } else if (streams.account === undefined && streams.calls.size === 0 && streams.idleSince <= now - limits.idleForMs) {
    connection.leave();
  } else {
    careForCalls(connection, now, overdue);
    careForSilence(connection, limits, now);
  }
}

/** How long the peer has taken nothing of what was sent to it. */
function untakenMs({ streams: { sender } }: Connection, now: number): number {
  return sender.unsent.untakenMs(sender.takenBytes, now);
}

function careForCalls(connection: Connection, now: number, overdue: number): void {
  const { streams } = connection;
  for (const call of streams.calls.values()) {
    const isStalled = call.stalledSince !== undefined && call.stalledSince <= overdue;
    if (isStalled && streams.account === undefined) {
      connection.end(errorCode.enhanceYourCalm, 'answers were not read in time');
      return;
    }
    if (call.isOverdue(now) || (isStalled && isStuck(call)) || streams.isInTheWay(call, now)) {
      streams.reset(call, errorCode.enhanceYourCalm);
    }
  }
}

/** A trusted peer may take its time with a stream, and with an answer as long as it takes some of it. */
function isStuck(call: ServerCall): boolean {
  if (call instanceof StreamServerCall) return false;
  const isStuck = call.unsentAt === call.seenUnsentAt;
  call.seenUnsentAt = call.unsentAt;
  if (!isStuck) call.stalledSince = performance.now();
  return isStuck;
}

function careForSilence(connection: Connection, limits: Limits, now: number): void {
  // While nothing is read from it, its silence says nothing.
  if (connection.blockedSince !== undefined) return;
  const { pingedAt, streams } = connection;
  if (pingedAt !== undefined) {
    if (pingedAt <= now - limits.keepaliveTimeoutMs) connection.destroy();
  } else if (streams.now <= now - limits.keepaliveMs) {
    connection.ping(now);
  }
}
