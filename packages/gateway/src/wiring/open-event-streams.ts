import type { Authenticator, Clock, EndedCredentials, EventLog } from '@reeve/core';
import type { Health } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { EventHub } from '../transports/events/event-hub.ts';
import { openSse } from '../transports/events/sse-stream.ts';
import { EventSockets } from '../transports/events/web-socket-stream.ts';
import type { EventPorts } from '../transports/http/handlers/events.ts';

export interface EventsPorts {
  readonly eventLog: EventLog;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly ended: EndedCredentials;
  readonly health: Health;
  readonly metrics: Metrics;
}

const tickMs = 1000;

/** Starts what sends events to whoever follows them, over WebSockets and as Server-Sent Events. */
export function startEvents(ports: EventsPorts): EventPorts & { readonly stop: () => void } {
  const { eventLog: log, clock, authenticator, ended, health, metrics } = ports;
  const hub = new EventHub({
    log,
    clock,
    isStillValid: (principal) => authenticator.isStillValid(principal),
    soon: setImmediate,
    later: (work, ms) => setTimeout(work, ms),
    onSent: (events) => metrics.eventsSent(events),
    onDropped: (events) => metrics.eventsDropped(events),
    onEnded: (why) => metrics.streamEnded(why),
  });
  const sockets = new EventSockets(hub);
  metrics.observeStreams((format) => hub.count(format));
  ended.subscribe(() => void hub.checkCredentials());
  health.onDrain(() => {
    hub.drain();
    sockets.drain();
  });
  const timer = setInterval(() => hub.tick(), tickMs);
  return {
    isDraining: () => hub.draining,
    openSocket: (connection, follower) => sockets.open(connection, follower),
    openSse: ({ response }, follower) => openSse(hub, response, follower),
    stop: () => clearInterval(timer),
  };
}
