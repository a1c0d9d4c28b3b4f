import { StartError } from '../start-error.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/** Waits until NATS was reached once. Until then nobody knows what other gateways are doing. */
export async function waitForNats(
  { logger }: WiringContext,
  { shared }: OpenStore,
  stopRequested: Promise<unknown> | undefined,
): Promise<void> {
  if (shared === undefined || shared.bus.isConnected) return;
  logger.warn('NATS cannot be reached; the gateway waits for it and decides nothing before');
  const isStopped = await Promise.race([
    shared.connected.then(() => false),
    stopRequested?.then(() => true) ?? new Promise<never>(() => undefined),
  ]);
  if (isStopped) throw new StartError('stopped while it waited for NATS (SVC_NATS_URL)');
}
