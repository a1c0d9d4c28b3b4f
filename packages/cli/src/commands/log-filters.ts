import { pointInTime } from '../command-line/duration-seconds.ts';
import { choice, text } from '../command-line/values.ts';

/** Filters for the audit log. All given filters must match. */
export const logFilters = {
  org: text('ORG', 'Only entries with this org in their lineage.', { aliases: ['org-id'] }),
  team: text('TEAM', 'Only entries with a team of this name in their lineage.', { aliases: ['team-id'] }),
  agent: text('AGENT', 'Only entries with an agent of this name in their lineage.', { aliases: ['agent-id'] }),
  eventType: text('TYPE', 'Of this type, such as ActionDenied.', { aliases: ['type'] }),
  decision: choice(['allow', 'deny', 'pending'], 'With this decision.'),
  op: text('ID', 'Of this operation.', { aliases: ['op-id'], completes: 'op' }),
  user: text('USER', 'Of agents that acted for this user: an email, or a sub.'),
  from: text('TIME', 'Not before: 2026-11-15T08:00:00Z, 2026-11-15, or 2h for two hours ago.', { aliases: ['since'] }),
  to: text('TIME', 'Before: the same forms.', { aliases: ['until'] }),
  search: text('TEXT', 'Only entries with this text in their JSON, in upper or lower case.', { aliases: ['q'] }),
};

interface LogFilterValues {
  readonly org: string | undefined;
  readonly team: string | undefined;
  readonly agent: string | undefined;
  readonly eventType: string | undefined;
  readonly decision: 'allow' | 'deny' | 'pending' | undefined;
  readonly op: string | undefined;
  readonly user: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly search: string | undefined;
}

export function logQuery(filters: LogFilterValues) {
  return {
    org_id: filters.org,
    team_id: filters.team,
    agent_id: filters.agent,
    event_type: filters.eventType,
    decision: filters.decision,
    op_id: filters.op,
    user: filters.user,
    from: filters.from === undefined ? undefined : pointInTime(filters.from, '--from'),
    to: filters.to === undefined ? undefined : pointInTime(filters.to, '--to'),
    q: filters.search,
  };
}
