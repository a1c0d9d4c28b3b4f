import type { Severity } from '@reeve/core';
import { eventSeverities } from '@reeve/core';
import type { EntryFacts } from './entry-facts.ts';

const severities: ReadonlyMap<string, Severity> = new Map(Object.entries(eventSeverities));

/** A denial is a warning, at least. What is damaged may be of no type. */
export function severityOf({ event_type: type, decision }: EntryFacts): Severity {
  const severity = severities.get(type) ?? 'info';
  return severity === 'info' && decision === 'deny' ? 'warning' : severity;
}
