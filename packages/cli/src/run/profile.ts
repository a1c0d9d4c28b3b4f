export const lostGatewayWays = ['pause', 'stop', 'continue'] as const;
export type LostGateway = (typeof lostGatewayWays)[number];

export const longestGraceSecs = 3600;

/** What a floor lets through, as flags and profiles say it. */
export interface Profile {
  readonly write: readonly string[];
  readonly read: readonly string[];
  readonly hide: readonly string[];
  readonly env: readonly string[];
  readonly grace?: number | undefined;
  readonly lostGateway?: LostGateway | undefined;
}
