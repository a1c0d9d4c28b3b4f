export type { EventFilter } from './event-filter.ts';
export { agentOf, eventsFor } from './event-filter.ts';
export { EventLog } from './event-log.ts';
export { countIds, shownOf } from './shown-parts.ts';
