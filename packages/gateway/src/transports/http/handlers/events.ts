import type { RouteInput, Routes } from '@reeve/contract/http';
import type { EventFilter, Principal } from '@reeve/core';
import type { Connection, Handlers } from '../handler.ts';
import { StreamAnswer } from '../handler.ts';
import { HttpError } from '../problem.ts';

interface Follower {
  readonly principal: Principal;
  readonly filter: EventFilter;
  readonly since: number | undefined;
}

export interface EventPorts {
  readonly isDraining: () => boolean;
  readonly openSocket: (connection: Connection, follower: Follower) => void;
  readonly openSse: (connection: Connection, follower: Follower) => void;
}

export function eventHandlers(ports: EventPorts): Pick<Handlers, 'eventSocket' | 'eventStream'> {
  const requireStanding = () => {
    if (ports.isDraining()) throw new HttpError('shutting_down', 'the gateway is being stopped');
  };
  return {
    eventSocket: ({ query }, { principal }) => {
      requireStanding();
      const follower = { principal, filter: filterOf(query), since: query.since };
      return new StreamAnswer((connection) => ports.openSocket(connection, follower));
    },
    eventStream: ({ query, headers }, { principal }) => {
      requireStanding();
      // The last event that a browser has seen takes precedence over where it first began.
      const since = headers['last-event-id'] ?? query.since;
      const follower = { principal, filter: filterOf(query), since };
      return new StreamAnswer((connection) => ports.openSse(connection, follower));
    },
  };
}

function filterOf({ types, org_id, agent_id }: RouteInput<Routes['eventSocket']>['query']): EventFilter {
  return { types, orgId: org_id, agentId: agent_id };
}
