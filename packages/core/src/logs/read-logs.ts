import type { Principal } from '../access/principal.ts';
import { narrowedTo, requireScope, covers } from '../access/principal.ts';
import type { AuditPage, AuditQuery, AuditReader } from '../audit/audit-reader.ts';

export type LogFilter = Omit<AuditQuery, 'orClaimedOrgId'>;

const nothing: AuditPage = { entries: [], next: null };

/** A page of the log as the caller may see it, newest first. */
export function latestLogs(log: AuditReader, by: Principal, filter: LogFilter): Promise<AuditPage> {
  const query = withinTenant(by, filter);
  return query === undefined ? Promise.resolve(nothing) : log.latest(query);
}

/** The same, oldest first, as for an export. */
export function oldestLogs(log: AuditReader, by: Principal, filter: LogFilter): Promise<AuditPage> {
  const query = withinTenant(by, filter);
  return query === undefined ? Promise.resolve(nothing) : log.oldest(query);
}

/**
 * The question, narrowed to the caller's tenant. An impersonation is on record under the org of the token's owner; an
 * admin of the org that was claimed finds it, too, by asking for that event type.
 */
function withinTenant(by: Principal, filter: LogFilter): AuditQuery | undefined {
  requireScope(by, 'read');
  const { orgId: askedOrg, teamId: askedTeam, ...rest } = filter;
  const within = narrowedTo(by, { orgId: askedOrg, teamId: askedTeam });
  if (within === 'nothing') return undefined;
  const seesClaims =
    by.orgId !== null &&
    by.teamId === null &&
    askedOrg === undefined &&
    filter.eventType === 'A2AImpersonationAttempted' &&
    covers(by.scopes, 'admin');
  return { ...rest, ...within, ...(seesClaims && by.orgId !== null ? { orClaimedOrgId: by.orgId } : {}) };
}
