import type { Message } from '../protocol/message.ts';
import { asNotification, asRequest } from '../protocol/message.ts';

/** Whether a message of the client does not pass as it is. */
export function isGoverned(message: Message): boolean {
  const method = asRequest(message)?.method ?? asNotification(message)?.method;
  return method === 'tools/call' || method === 'tools/list';
}
