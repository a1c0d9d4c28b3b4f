import type { StreamMessage } from '@reeve/contract/events';
import type { Approval } from '../commands/approval-filters.ts';
import { opQuery } from '../commands/op-filters.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { readPages } from '../http/pages.ts';
import { isObject } from '../is-object.ts';
import type { Watch, WatchFilter } from '../watch/watch-list.ts';
import { watchList } from '../watch/watch-list.ts';

/** Follows approvals: the open ones, then each change. */
export function watchApprovals(client: GatewayClient, filter: WatchFilter): Watch<Approval> {
  const read = async () => {
    const page = await readPages({ all: true, perPage: undefined, cursor: undefined }, (paging) =>
      client.call('listApprovals', { query: { ...opQuery(filter), ...paging } }),
    );
    return page.items;
  };
  const itemOf = (message: StreamMessage) =>
    message.event_type === 'approval' && isObject(message.payload.approval) ? message.payload.approval : undefined;
  const source = { eventType: 'approval', read, itemOf };
  return (listener, limits) => watchList<Approval>(client, filter, source, listener, limits);
}
