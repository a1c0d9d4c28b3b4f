import type { AgentDirectory, Unread } from '@reeve/core';
import { everything } from '@reeve/core';
import type { WiringContext } from './wiring-context.ts';

const detail =
  'something stored could not be read; the log says what, and who is out of service here until a start reads it';

/** Tells operators what could not be read, and whom that takes out of service. Readiness names nobody. */
export function tellUnread({ logger, health, metrics }: WiringContext, faults: readonly Unread[], of: string): void {
  for (const { touched, why } of faults) {
    metrics.unread();
    logger.error({ of, why, outOfService: touched }, 'something stored cannot be read; nobody else is affected');
  }
  if (faults.length > 0) health.set('records', { status: 'degraded', detail });
}

/** Takes those out of service whose rows a start could not read. */
export function startWithout(context: WiringContext, directory: AgentDirectory, faults: readonly Unread[]): void {
  for (const { touched } of faults) directory.outOfService.add(touched ?? everything);
  tellUnread(context, faults, 'the store');
}
