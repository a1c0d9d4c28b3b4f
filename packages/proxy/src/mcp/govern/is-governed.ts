import { listensToResources } from '../call-subject.ts';
import type { Message } from '../protocol/message.ts';
import { asNotification, asRequest } from '../protocol/message.ts';
import type { GovernedMethods } from './governed-methods.ts';

/** Whether what a client asks for is a check, although it calls no tool. */
export function isGovernedRequest(method: string, params: unknown, { ofClient }: GovernedMethods): boolean {
  if (method !== 'subscriptions/listen') return ofClient.has(method);
  return ofClient.has('resources/subscribe') && listensToResources(params);
}

/** Whether a request does not pass as it is. */
export function isWatched(method: string, params: unknown, methods: GovernedMethods): boolean {
  return method === 'tools/call' || method === 'tools/list' || isGovernedRequest(method, params, methods);
}

/** Whether a message of the client does not pass as it is. */
export function isGoverned(message: Message, methods: GovernedMethods): boolean {
  const { method, params } = asRequest(message) ?? asNotification(message) ?? { method: '', params: {} };
  return isWatched(method, params, methods);
}
