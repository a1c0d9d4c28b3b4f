import { decisionOf } from '../decision/index.ts';
import type { CheckShown } from '../ops/index.ts';
import { arrivalOf } from '../ops/index.ts';
import type { DomainEvent } from '../store.ts';

/**
 * What live views are shown of one event, each with an id of its own. A check that decides at once is one fact; it shows
 * that its operation arrives, that it is in its new state, and what was decided.
 */
export type ShownPart = 0 | 1 | 2;

const itself: ShownPart = 0;
const arrival: ShownPart = 1;
const decision: ShownPart = 2;

const alone: readonly ShownPart[] = [itself];
const ofCheck: Readonly<Record<CheckShown, readonly ShownPart[]>> = {
  decision: [itself, decision],
  'arrival and decision': [arrival, itself, decision],
};

/** In the order in which they are shown. */
export function partsOf(event: DomainEvent): readonly ShownPart[] {
  return event.type === 'ops_change' && event.shows !== undefined ? ofCheck[event.shows] : alone;
}

export function isItself(part: ShownPart): boolean {
  return part === itself;
}

export function partOf(event: DomainEvent, part: ShownPart): DomainEvent {
  if (event.type !== 'ops_change' || part === itself) return event;
  return part === arrival ? arrivalOf(event) : decisionOf(event);
}

/** The events that are shown, none of which shows another. Gateways of 0.1.0 are told these. */
export function shownOf(event: DomainEvent): readonly DomainEvent[] {
  if (event.type !== 'ops_change' || event.shows === undefined) return [event];
  const { shows, ...change } = event;
  return ofCheck[shows].map((part) => (part === itself ? change : partOf(event, part)));
}

/** How many ids events have. */
export function countIds(events: readonly DomainEvent[]): number {
  return events.reduce((sum, event) => sum + partsOf(event).length, 0);
}
