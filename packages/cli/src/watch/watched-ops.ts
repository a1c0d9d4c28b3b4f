import type { StreamMessage } from '@reeve/contract/events';
import type { Op } from '../commands/op-filters.ts';
import { opQuery } from '../commands/op-filters.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { readPages } from '../http/pages.ts';
import { isObject } from '../is-object.ts';
import type { Watch, WatchFilter } from './watch-list.ts';
import { watchList } from './watch-list.ts';

export function watchOps(client: GatewayClient, filter: WatchFilter): Watch<Op> {
  const read = async () => {
    const page = await readPages({ all: true, perPage: undefined, cursor: undefined }, (paging) =>
      client.call('listOps', { query: { ...opQuery(filter), ...paging } }),
    );
    return page.items;
  };
  const itemOf = (message: StreamMessage) =>
    message.event_type === 'ops_change' && isObject(message.payload.op) ? message.payload.op : undefined;
  const source = { eventType: 'ops_change', read, itemOf };
  return (listener, limits) => watchList<Op>(client, filter, source, listener, limits);
}
