import { bareHost, isLoopback } from '@reeve/contract/host-name';
import type { ForwardTarget } from '../config/forward-target.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Warns at the start if audit entries travel over a network without TLS. */
export function warnOfPlainTargets(targets: readonly ForwardTarget[], logger: Logger): void {
  const plain = targets.filter(isPlain);
  if (plain.length === 0) return;
  logger.warn(
    { targets: plain.map(({ name }) => name) },
    'SVC_FORWARD leads over a network without TLS: whoever can read the network reads the audit log, and whoever can come in between can change it on its way. Use syslog+tls:// or https://',
  );
}

function isPlain(target: ForwardTarget): boolean {
  switch (target.kind) {
    case 'syslog':
      return !target.isTls && !isLoopback(target.host);
    case 'file':
      return false;
    case 'otlp':
    case 'https':
      return target.url.protocol === 'http:' && !isLoopback(bareHost(target.url.hostname));
  }
}
