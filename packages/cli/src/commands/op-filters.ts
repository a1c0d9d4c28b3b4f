import type { RouteOutput, Routes } from '@reeve/contract/http';
import { text } from '../command-line/values.ts';

export type Op = RouteOutput<Routes['getOp']>;

/** Filters for operations. All given filters must match. */
export const opFilters = {
  org: text('ORG', 'Only of this org.', { aliases: ['org-id'] }),
  team: text('TEAM', 'Only of teams of this name.', { aliases: ['team-id'] }),
  agent: text('AGENT', 'Only of agents of this name.', { aliases: ['agent-id'] }),
  run: text('RUN', 'Only of this run.', { aliases: ['run-id'] }),
};

interface OpFilterValues {
  readonly org: string | undefined;
  readonly team: string | undefined;
  readonly agent: string | undefined;
  readonly run: string | undefined;
}

export function opQuery({ org, team, agent, run }: OpFilterValues) {
  return { org_id: org, team_id: team, agent_id: agent, run_id: run };
}
