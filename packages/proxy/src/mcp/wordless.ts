import type { KnownNotification } from '@reeve/sdk/mcp';
import { wordlessParams } from '@reeve/sdk/mcp';
import type { Message } from './protocol/message.ts';
import { asNotification, notificationMessage } from './protocol/message.ts';

/** A notification without any text that the server has chosen. Undefined if nothing is left of it. */
export function wordless(message: Message, known: KnownNotification): Message | undefined {
  const notification = asNotification(message);
  if (notification === undefined) return undefined;
  const params = wordlessParams(notification.method, notification.params, known);
  return params === undefined ? undefined : notificationMessage(notification.method, params);
}
