import type { AgentDirectory, Unread } from '@reeve/core';
import { everything } from '@reeve/core';
import type { WiringContext } from './wiring-context.ts';

const ofSome =
  'something stored could not be read; the log says what, and who is out of service here until a start reads it';
const ofEverybody =
  'something stored could not be read that may concern everybody: all agents are out of service here until a start reads it';

/** Tells operators what could not be read, and whom that takes out of service. Readiness names nobody. */
export function tellUnread({ logger, health, metrics }: WiringContext, faults: readonly Unread[], of: string): void {
  for (const { touched, why } of faults) {
    metrics.unread();
    const whom = (touched ?? everything).everything ? 'everybody may be affected' : 'nobody else is affected';
    logger.error({ of, why, outOfService: touched }, `something stored cannot be read; ${whom}`);
  }
  if (faults.length === 0) return;
  const isEverybody = faults.some(({ touched }) => (touched ?? everything).everything);
  if (isEverybody || health.parts.get('records')?.detail !== ofEverybody) {
    health.set('records', { status: 'degraded', detail: isEverybody ? ofEverybody : ofSome });
  }
}

/** Takes those out of service whose rows a start could not read. */
export function startWithout(context: WiringContext, directory: AgentDirectory, faults: readonly Unread[]): void {
  for (const { touched } of faults) directory.outOfService.add(touched ?? everything);
  tellUnread(context, faults, 'the store');
}
