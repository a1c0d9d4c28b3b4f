import type { RequestOf } from '../../api/send.ts';
import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

/** The page state in the URL. */
export interface AuditSearch {
  readonly q?: string | undefined;
  /** The entry whose details are open. */
  readonly seq?: string | undefined;
  readonly event_type?: string | undefined;
  readonly decision?: 'allow' | 'deny' | 'pending' | undefined;
  readonly org_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly op_id?: string | undefined;
  /** An email or a sub. */
  readonly user?: string | undefined;
  /** RFC 3339, so that a link means the same moment in every zone. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export type LogFilter = Omit<NonNullable<RequestOf<'listLogs'>['query']>, 'per_page' | 'cursor'>;

export function parseAuditSearch(raw: RawSearch): AuditSearch {
  return {
    q: text(raw['q']),
    seq: text(raw['seq']),
    event_type: text(raw['event_type']),
    decision: oneOf(['allow', 'deny', 'pending'], raw['decision']),
    org_id: text(raw['org_id']),
    team_id: text(raw['team_id']),
    agent_id: text(raw['agent_id']),
    op_id: text(raw['op_id']),
    user: text(raw['user']),
    from: moment(raw['from']),
    to: moment(raw['to']),
  };
}

export function filterOf(search: AuditSearch): LogFilter {
  return Object.fromEntries(Object.entries(search).filter(([name, value]) => name !== 'seq' && value !== undefined));
}

export function isFiltered(search: AuditSearch): boolean {
  return Object.keys(filterOf(search)).length > 0;
}

/** A moment in the format of the time field, in the viewer's zone. */
export function localOf(at: string | undefined): string | undefined {
  if (at === undefined) return undefined;
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The value of that field, as a moment. */
export function moment(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
