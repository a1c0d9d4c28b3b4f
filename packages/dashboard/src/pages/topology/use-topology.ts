import { pathPart } from '@reeve/contract/names';
import type { ReeveEvent } from '@reeve/contract/events';
import type { UseQueryResult } from '@tanstack/react-query';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { eventStream } from '../../api/event-stream.ts';
import { useEvents } from '../../api/use-events.ts';
import { useRefreshOn } from '../../api/use-refresh.ts';
import { routeQuery } from '../../api/use-route.ts';
import { LiveCounts, withAgent, withAgentEvent, withCounts } from './live-counts.ts';
import type { Overview } from './topology-model.ts';

type AgentEvent = Extract<ReeveEvent, { readonly event_type: 'agent' }>;

const overviewQuery = routeQuery('topologyOverview');
const drawEveryMs = 400;
/** More new agents than this at once wait for the next answer of the gateway. */
const newcomersAtOnce = 5;

/** All agents that the caller may see, live. Counts follow the events, and answers of the gateway correct them. */
export function useTopology(): UseQueryResult<Overview> {
  const client = useQueryClient();
  const [counts] = useState(() => new LiveCounts());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const query = useQuery({
    ...overviewQuery,
    queryFn: async ({ signal }) => {
      await eventStream.ready();
      const overview = await callRoute('topologyOverview', {}, { signal });
      counts.forget();
      return overview;
    },
  });
  const change = (next: (overview: Overview) => Overview) => {
    client.setQueryData(overviewQuery.queryKey, (overview) => (overview === undefined ? overview : next(overview)));
  };
  const welcome = async (event: AgentEvent) => {
    const params = {
      org: pathPart(event.org_id ?? ''),
      team: pathPart(event.team_id ?? ''),
      agent: event.agent_id ?? '',
    };
    // An agent that has left in the meantime is not shown.
    const agent = await callRoute('getAgent', { params }).catch(() => undefined);
    if (agent !== undefined) change((overview) => withAgent(overview, agent));
  };
  useEvents(['agent', 'ops_change'], (events) => {
    const agentEvents = events.filter((event) => event.event_type === 'agent');
    if (agentEvents.length > 0) change((overview) => agentEvents.reduce(withAgentEvent, overview));
    const newcomers = agentEvents.filter(
      ({ payload: { change: what } }) => what === 'registered' || what === 'resumed',
    );
    if (newcomers.length <= newcomersAtOnce) for (const event of newcomers) void welcome(event);
    for (const event of events) if (event.event_type === 'ops_change') counts.note(event);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      change((overview) => withCounts(overview, counts.take()));
    }, drawEveryMs);
  });
  useRefreshOn(['agent', 'ops_change'], ['topologyOverview'], 10_000);
  useEffect(() => () => clearTimeout(timer.current), []);
  return query;
}
