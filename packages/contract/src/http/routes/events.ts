import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import { eventTypes } from '../../events.ts';
import type { Route } from '../route.ts';
import { idFilter } from '../schemas.ts';

const oneType = `(${eventTypes.join('|')})`;

/** The id of an event. A future id is valid too, however large. */
const cursor = z
  .string()
  .regex(/^\d{1,20}$/, 'must be the id of an event: a whole number')
  .meta({ maxLength: 20 })
  .transform(Number);

const eventQuery = z.object({
  types: z
    .string()
    .max(bounds.eventTypes)
    .regex(
      new RegExp(`^${oneType}(,${oneType})*$`),
      `must be one or more of ${eventTypes.join(', ')}, separated by commas`,
    )
    .transform((types) => types.split(','))
    .optional(),
  org_id: idFilter,
  agent_id: idFilter,
  since: cursor.optional(),
  ticket: z.string().max(bounds.ticket).optional(),
});

const stream = {
  method: 'GET',
  tag: 'Events',
  access: 'read',
  tenancy: 'own',
  query: eventQuery,
  problems: [],
} as const;

/** The live stream of events, in two forms. */
export const eventRoutes = {
  eventSocket: {
    ...stream,
    path: '/api/v1/ws/events',
    summary:
      'Events as they happen, over a WebSocket: one JSON text for each, after a "hello" with the newest id. "since" replays the events after it.',
    stream: 'websocket',
    success: { status: 101, description: 'The connection is a WebSocket now.' },
  },
  eventStream: {
    ...stream,
    path: '/api/v1/events',
    summary: 'The same stream as Server-Sent Events.',
    stream: 'sse',
    headers: z.object({ 'last-event-id': cursor.optional() }),
    success: { status: 200, description: 'Events, until either side ends the stream.', types: ['text/event-stream'] },
  },
} as const satisfies Record<string, Route>;
