import type { Config } from '../config/settings.ts';
import type { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Opened } from './opened.ts';

/** What every part of the wiring is given: the settings, whom to tell of what happens, and where to note how to close. */
export interface WiringContext {
  readonly config: Config;
  readonly version: string;
  readonly logger: Logger;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly opened: Opened;
}

/** What went wrong in a call and is nobody's answer belongs into the log. */
export function logUnforeseen({ logger }: WiringContext): (error: unknown) => void {
  return (error) => logger.error({ err: error }, 'a call failed unexpectedly');
}
