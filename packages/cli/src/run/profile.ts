import type { Limits } from './cgroup/limits.ts';

export const lostGatewayWays = ['pause', 'stop', 'continue'] as const;
export type LostGateway = (typeof lostGatewayWays)[number];

export const longestGraceSecs = 3600;

/** The least that a program can be given. */
export const leastLimits = { memory: 1_048_576, pids: 1, cpus: 0.01 } as const;

/** What a floor lets through, as flags and profiles say it. */
export interface Profile extends Limits {
  readonly write: readonly string[];
  readonly read: readonly string[];
  readonly hide: readonly string[];
  readonly env: readonly string[];
  readonly grace?: number | undefined;
  readonly lostGateway?: LostGateway | undefined;
}
