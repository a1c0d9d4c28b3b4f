import { isLoopback } from '@reeve/contract/host-name';
import type { NatsUrl } from '../config/nats-url.ts';
import { nameOf } from '../config/nats-url.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Warns at the start if gateways reach NATS over a network without TLS. */
export function warnOfPlainNats(urls: readonly NatsUrl[], logger: Logger): void {
  const plain = urls.filter(({ host, isTls }) => !isTls && !isLoopback(host));
  if (plain.length === 0) return;
  logger.warn(
    { servers: plain.map(nameOf) },
    'SVC_NATS_URL leads over a network without TLS: whoever can read the network reads the credentials for NATS, and whoever can come in between can hold messages back. What they say stays encrypted. Use tls://',
  );
}
