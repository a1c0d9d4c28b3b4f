import type { ConnectionEvent } from './connection-event.ts';
import type { GatewayLink } from './gateway-link.ts';

const warned = new WeakSet<GatewayLink>();

/** Warns if nobody listens: agents that cannot be stopped should not go unnoticed. Once per client. */
export function warnOnce(link: GatewayLink, event: ConnectionEvent): void {
  if (event.type !== 'unsupported' || warned.has(link)) return;
  warned.add(link);
  process.emitWarning(`agents of this client cannot be stopped: ${event.reason}`, 'ReeveWarning');
}
