export type { EventFilter } from './event-filter.ts';
export { agentOf, eventsFor } from './event-filter.ts';
export { countIds, EventLog } from './event-log.ts';
