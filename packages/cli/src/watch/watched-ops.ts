import type { Op } from '../commands/op-filters.ts';
import { opQuery } from '../commands/op-filters.ts';
import { followEvents } from '../events/follow-events.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { isObject } from '../is-object.ts';
import { readPages } from '../http/pages.ts';

export interface OpFilter {
  readonly org: string | undefined;
  readonly team: string | undefined;
  readonly agent: string | undefined;
  readonly run: string | undefined;
}

export interface OpListener {
  /** All that there is now: at the start, and where something may have been missed. */
  onAll(ops: readonly Op[]): void;
  onChange(op: Op): void;
  onConnection(state: 'live' | 'lost', why?: string): void;
}

/** Follows operations until the signal: the list first, then each change, and the list again after a gap. */
export async function watchOps(
  client: GatewayClient,
  filter: OpFilter,
  listener: OpListener,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const choice = { types: 'ops_change', org_id: filter.org, agent_id: filter.agent };
  const onConnection = (state: 'live' | 'lost', why?: string) => listener.onConnection(state, why);
  let hasList = false;
  for await (const message of followEvents(client, choice, { signal, onConnection, timeoutMs })) {
    // The list is read when the stream is open: what happens in between comes by the stream.
    if (message.event_type === 'gap' || (message.event_type === 'hello' && !hasList)) {
      listener.onAll(await readAll(client, filter));
      hasList = true;
    } else if (message.event_type === 'ops_change') {
      const { op } = message.payload;
      if (isObject(op) && matches(op, filter)) listener.onChange(op);
    }
  }
}

async function readAll(client: GatewayClient, filter: OpFilter): Promise<readonly Op[]> {
  const page = await readPages({ all: true, perPage: undefined, cursor: undefined }, (paging) =>
    client.call('listOps', { method: 'GET', path: '/api/v1/ops', query: { ...opQuery(filter), ...paging } }),
  );
  return page.items;
}

function matches({ agent, run_id: run }: Op, filter: OpFilter): boolean {
  const fits = (wanted: string | undefined, is: string) => wanted === undefined || wanted === is;
  return (
    fits(filter.org, agent.org_id) &&
    fits(filter.team, agent.team_id) &&
    fits(filter.agent, agent.agent_id) &&
    fits(filter.run, run)
  );
}
