import type { RouteInput, RouteOutput, Routes } from '@reeve/contract/http';
import type { PeopleFilter, PeopleReader, SeenPerson } from '@reeve/core';
import { listPeople, timestamp } from '@reeve/core';
import { cursorOfPeople, peoplePlaceOf } from '../cursor.ts';
import type { Handlers } from '../handler.ts';
import { agentIdJson } from '../present-op.ts';

export function peopleHandlers(log: PeopleReader, newest: () => number): Pick<Handlers, 'listPeople'> {
  return {
    listPeople: async ({ query }, { principal }) => {
      const end = newest() + 1;
      const place = peoplePlaceOf(query.cursor) ?? { before: end, lastBefore: end };
      const { people, next, since } = await listPeople(log, principal, filterOf(query), place);
      return {
        items: people.map(personJson),
        next_cursor: cursorOfPeople(next),
        since: since === null ? null : timestamp(since),
      };
    },
  };
}

function filterOf(query: RouteInput<Routes['listPeople']>['query']): PeopleFilter {
  return {
    ...(query.org_id === undefined ? {} : { orgId: query.org_id }),
    ...(query.team_id === undefined ? {} : { teamId: query.team_id }),
    ...(query.user === undefined ? {} : { user: query.user }),
    ...(query.from === undefined ? {} : { from: Date.parse(query.from) }),
    ...(query.to === undefined ? {} : { to: Date.parse(query.to) }),
    limit: query.per_page,
  };
}

function personJson({ issuer, sub, email, lastAt, counts, agents, agentCount }: SeenPerson): PersonJson {
  return {
    user: { issuer, sub, email },
    last_at: timestamp(lastAt),
    ...counts,
    agents: agents.map(agentIdJson),
    agent_count: agentCount,
  };
}

type PersonJson = RouteOutput<Routes['listPeople']>['items'][number];
