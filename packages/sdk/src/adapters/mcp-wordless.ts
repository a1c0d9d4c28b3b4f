type Members = Readonly<Record<string, unknown>>;

/** What is known of a notification of an MCP server. */
export interface KnownNotification {
  /** Whether it belongs to a request of the client that is under way. */
  readonly isConcerned: boolean;
  /** Whether the client has asked to hear of the resource. */
  readonly isSubscribed: (uri: string) => boolean;
  /** Whether the client has got a request of the server by this id, which the server has chosen. */
  readonly isAsked: (id: string | number) => boolean;
}

/** By which a notification of revision 2026-07-28 names the request that it belongs to. */
export const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';
const changes = /^notifications\/(tools|prompts|resources)\/list_changed$/;
const mostDigits = 11;
const kinds = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const;

/**
 * The params of a notification without any text that the server has chosen, for clients that may read only what was judged.
 * Undefined if nothing is left of it, as of a log.
 */
export function wordlessParams(method: string, params: Members, known: KnownNotification): Members | undefined {
  const left = leftOf(method, params, known);
  const { [subscriptionKey]: subscription } = (params['_meta'] ?? {}) as Members;
  if (left === undefined || subscription === undefined || !known.isConcerned) return left;
  return { ...left, _meta: { [subscriptionKey]: subscription } };
}

function leftOf(method: string, params: Members, known: KnownNotification): Members | undefined {
  if (changes.test(method)) return {};
  const { progressToken, progress, total, requestId, uri, notifications } = params;
  if (method === 'notifications/cancelled') {
    const isId = typeof requestId === 'number' || typeof requestId === 'string';
    return isId && known.isAsked(requestId) ? { requestId } : undefined;
  }
  if (method === 'notifications/progress' && known.isConcerned) {
    const whole = measureOf(total);
    return { progressToken, progress: measureOf(progress) ?? 0, ...(whole === undefined ? {} : { total: whole }) };
  }
  if (method === 'notifications/subscriptions/acknowledged' && known.isConcerned) {
    return { notifications: agreed(notifications, known) };
  }
  const isNews = method === 'notifications/resources/updated' && typeof uri === 'string' && known.isSubscribed(uri);
  return isNews ? { uri } : undefined;
}

/** How far something has come, in fewer digits than a card has. Undefined if it takes more before the point. */
function measureOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || Math.abs(value) >= 10 ** mostDigits) return undefined;
  return Number(value.toPrecision(mostDigits));
}

/** Of what the client wants to hear, that which the server will tell. */
function agreed(notifications: unknown, { isSubscribed }: KnownNotification): Members {
  const told = (typeof notifications === 'object' && notifications !== null ? notifications : {}) as Members;
  const { resourceSubscriptions: uris } = told;
  return {
    ...Object.fromEntries(kinds.flatMap((kind) => (typeof told[kind] === 'boolean' ? [[kind, told[kind]]] : []))),
    ...(Array.isArray(uris)
      ? { resourceSubscriptions: uris.filter((uri) => typeof uri === 'string' && isSubscribed(uri)) }
      : {}),
  };
}
