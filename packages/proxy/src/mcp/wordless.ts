import { metaOf, subscriptionKey } from './protocol/envelope.ts';
import type { Message, Notification } from './protocol/message.ts';
import { asNotification, notificationMessage } from './protocol/message.ts';
import type { JsonObject } from './protocol/written-json.ts';

const changes = /^notifications\/(tools|prompts|resources)\/list_changed$/;

/** What is known of a notification. */
export interface Known {
  /** Whether it belongs to a request of the client that is under way. */
  readonly isConcerned: boolean;
  /** Whether the client has asked to hear of the resource. */
  readonly isSubscribed: (uri: string) => boolean;
}

/**
 * A notification without any text that the server has chosen, for clients that may read only what was judged. Undefined if
 * nothing is left of it, as of a log.
 */
export function wordless(message: Message, known: Known): Message | undefined {
  const notification = asNotification(message);
  const params = notification === undefined ? undefined : wordlessParams(notification, known);
  if (notification === undefined || params === undefined) return undefined;
  const subscription = metaOf(notification.params)[subscriptionKey];
  const meta = subscription === undefined || !known.isConcerned ? {} : { _meta: { [subscriptionKey]: subscription } };
  return notificationMessage(notification.method, { ...params, ...meta });
}

function wordlessParams({ method, params }: Notification, known: Known): JsonObject | undefined {
  if (changes.test(method)) return {};
  const { progressToken, progress, total, requestId, uri } = params;
  if (method === 'notifications/cancelled') return { requestId };
  if (method === 'notifications/progress' && known.isConcerned) {
    return {
      progressToken,
      progress: typeof progress === 'number' ? progress : 0,
      ...(typeof total === 'number' ? { total } : {}),
    };
  }
  const isNews = method === 'notifications/resources/updated' && typeof uri === 'string' && known.isSubscribed(uri);
  return isNews ? { uri } : undefined;
}
