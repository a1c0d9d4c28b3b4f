import { timestamp } from '@reeve/core';
import type { Handlers } from '../handler.ts';

/** A gateway as others see it. */
export interface ListedGateway {
  readonly id: string;
  readonly version: string;
  readonly startedAt: number;
  readonly state: 'active' | 'leaving' | 'lost';
  readonly agents: number;
  readonly opsInFlight: number;
  readonly isSelf: boolean;
}

export function clusterHandlers(gateways: () => Promise<readonly ListedGateway[]>): Pick<Handlers, 'listGateways'> {
  return {
    listGateways: async () => ({
      gateways: (await gateways()).map(({ id, version, startedAt, state, agents, opsInFlight, isSelf }) => ({
        id,
        version,
        started_at: timestamp(startedAt),
        state,
        agents,
        ops_in_flight: opsInFlight,
        self: isSelf,
      })),
    }),
  };
}
