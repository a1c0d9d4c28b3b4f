export interface BackoffSettings {
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

/**
 * How long to wait before a retry (counted from 0): anything from nothing to a limit that doubles each time. Full jitter
 * spreads agents that failed together.
 */
export function backoffMs(retry: number, settings: BackoffSettings, random: () => number = Math.random): number {
  return random() * Math.min(settings.maxBackoffMs, settings.initialBackoffMs * 2 ** retry);
}
