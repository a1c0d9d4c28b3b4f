import { UsageError } from '../cli-error.ts';
import { flag, text } from '../command-line/values.ts';
import { cleanText } from '../output/clean-text.ts';

/** The options that name what to suspend or to resume. */
export const tenantScopeOptions = {
  all: flag('Everything, of every tenant.'),
  org: text('ORG', 'This org; "-" stands for agents without one.', { aliases: ['org-id'] }),
  team: text('TEAM', 'Only this team of the org.', { aliases: ['team-id'] }),
};

/** An org, a team of it, or everything: then both are absent. */
export interface TenantScope {
  readonly org_id?: string;
  readonly team_id?: string;
}

interface Chosen {
  readonly all: boolean;
  readonly org: string | undefined;
  readonly team: string | undefined;
}

export function tenantScopeOf({ all, org, team }: Chosen): TenantScope {
  if (all && (org !== undefined || team !== undefined)) {
    throw new UsageError('--all stands alone: leave out --org and --team');
  }
  if (all) return {};
  if (org === undefined) throw new UsageError('say what: --org, --org with --team, or --all');
  const idOf = (part: string) => (part === '-' ? '' : part);
  return { org_id: idOf(org), ...(team === undefined ? {} : { team_id: idOf(team) }) };
}

/** The scope in words. */
export function scopeText({ org_id: org, team_id: team }: TenantScope): string {
  if (org === undefined) return 'everything';
  const name = (part: string) => cleanText(part === '' ? '-' : part);
  return team === undefined ? `org ${name(org)}` : `team ${name(org)}/${name(team)}`;
}

/** The options that name the same scope on a command line. */
export function scopeArguments({ org_id: org, team_id: team }: TenantScope): string {
  if (org === undefined) return '--all';
  const name = (part: string) => cleanText(part === '' ? '-' : part);
  return team === undefined ? `--org ${name(org)}` : `--org ${name(org)} --team ${name(team)}`;
}
