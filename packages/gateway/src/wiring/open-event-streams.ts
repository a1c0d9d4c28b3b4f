import type { EventLog } from '@reeve/core';
import type { SharedRoom } from '@reeve/grpc-server';
import { systemClock } from '../adapters/system/system-clock.ts';
import { EventHub } from '../transports/events/event-hub.ts';
import { openSse } from '../transports/events/sse-stream.ts';
import { EventSockets } from '../transports/events/web-socket-stream.ts';
import type { EventPorts } from '../transports/http/handlers/events.ts';
import type { Identity } from './open-identity.ts';
import type { WiringContext } from './wiring-context.ts';

const tickMs = 1000;

/** Opens the event streams, over WebSockets and as Server-Sent Events. */
export function openEventStreams(
  { health, metrics, opened }: WiringContext,
  log: EventLog,
  { authenticator, access }: Identity,
  unsent: SharedRoom,
): EventPorts {
  const hub = new EventHub({
    log,
    clock: systemClock,
    unsent,
    isStillValid: (principal) => authenticator.isStillValid(principal),
    soon: setImmediate,
    later: (work, ms) => setTimeout(work, ms),
    onSent: (events) => metrics.eventsSent(events),
    onDropped: (events) => metrics.eventsDropped(events),
    onEnded: (why) => metrics.streamEnded(why),
  });
  const sockets = new EventSockets(hub);
  metrics.observeStreams((format) => hub.count(format));
  access.ended.subscribe(() => void hub.checkCredentials());
  health.onDrain(() => {
    hub.drain();
    sockets.drain();
  });
  const timer = setInterval(() => hub.tick(), tickMs);
  opened.defer(() => clearInterval(timer), 'event streams');
  return {
    isDraining: () => hub.draining,
    openSocket: (connection, follower) => sockets.open(connection, follower),
    openSse: ({ response }, follower) => openSse(hub, response, follower),
  };
}
