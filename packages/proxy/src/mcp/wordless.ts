import type { KnownNotification } from '@reeve/sdk/mcp';
import { wordlessParams } from '@reeve/sdk/mcp';
import { metaOf, subscriptionKey } from './protocol/envelope.ts';
import type { Message } from './protocol/message.ts';
import { asNotification, notificationMessage } from './protocol/message.ts';

/** A notification without any text that the server has chosen. Undefined if nothing is left of it. */
export function wordless(message: Message, known: KnownNotification): Message | undefined {
  const notification = asNotification(message);
  if (notification === undefined) return undefined;
  const params = wordlessParams(notification.method, notification.params, known);
  if (params === undefined) return undefined;
  const subscription = metaOf(notification.params)[subscriptionKey];
  const meta = subscription === undefined || !known.isConcerned ? {} : { _meta: { [subscriptionKey]: subscription } };
  return notificationMessage(notification.method, { ...params, ...meta });
}
