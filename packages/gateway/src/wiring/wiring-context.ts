import type { Config } from '../config/settings.ts';
import type { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Opened } from './opened.ts';

/** The inputs of every part of the wiring: the settings, the reporting, and the place to note how to close. */
export interface WiringContext {
  readonly config: Config;
  readonly version: string;
  readonly logger: Logger;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly opened: Opened;
}

/** Logs an unexpected error of a call, which no answer shows. */
export function logUnforeseen({ logger }: WiringContext): (error: unknown) => void {
  return (error) => logger.error({ err: error }, 'a call failed unexpectedly');
}
