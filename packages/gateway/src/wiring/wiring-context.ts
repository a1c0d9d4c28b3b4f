import { setTimeout as sleep } from 'node:timers/promises';
import type { Governance } from '@reeve/core';
import { ReeveError } from '@reeve/core';
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

/** How long a call waits to learn what other gateways did. Then it fails: nothing is answered by old knowledge. */
const catchUpMs = 10_000;

/** Waits until memory knows what any gateway has answered before. Takes no time if no other gateway can be there. */
export async function catchUp({ journal }: Pick<Governance, 'journal'>): Promise<void> {
  if (!journal.isShared) return;
  const waited = new AbortController();
  const isUpToDate = await Promise.race([
    journal.catchUp(),
    sleep(catchUpMs, false, { signal: waited.signal }).catch(() => false),
  ]);
  waited.abort();
  if (isUpToDate) return;
  throw new ReeveError('store_unavailable', 'what other gateways have done cannot be read; nothing was decided');
}
