import type { EntryFacts } from './entry-facts.ts';

export type Severity = 'info' | 'warning' | 'error';

/** Entries that somebody who watches many systems should see among the others. Denials are warnings, too. */
const severities: ReadonlyMap<string, Severity> = new Map([
  ['A2AImpersonationAttempted', 'error'],
  ['RefreshTokenReused', 'error'],
  ['AuditEntriesLost', 'error'],
  ['ToolDefinitionChanged', 'warning'],
  ['OpControlUnconfirmed', 'warning'],
  ['BudgetLimitExceeded', 'warning'],
  ['BudgetOverrun', 'warning'],
  ['BudgetDayMovedBack', 'warning'],
  ['PolicyReloadFailed', 'warning'],
  ['LoginFailed', 'warning'],
  ['AccountLocked', 'warning'],
]);

export function severityOf({ event_type: type, decision }: EntryFacts): Severity {
  return severities.get(type) ?? (decision === 'deny' ? 'warning' : 'info');
}
