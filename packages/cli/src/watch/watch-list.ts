import type { StreamMessage } from '@reeve/contract/events';
import { followEvents } from '../events/follow-events.ts';
import type { GatewayClient } from '../http/gateway-client.ts';

export interface WatchFilter {
  readonly org: string | undefined;
  readonly team: string | undefined;
  readonly agent: string | undefined;
  readonly run: string | undefined;
}

export interface WatchListener<Item> {
  /** All current items: at the start, and whenever a change may have been missed. */
  onAll(items: readonly Item[]): void;
  onChange(item: Item): void;
  onConnection(state: 'live' | 'lost', why?: string): void;
}

export interface WatchLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export type Watch<Item> = (listener: WatchListener<Item>, limits: WatchLimits) => Promise<void>;

/** An item that belongs to an agent and a run. */
export interface OfAgent {
  readonly agent: { readonly org_id: string; readonly team_id: string; readonly agent_id: string };
  readonly run_id: string;
}

/** The source of a list and its changes. */
export interface WatchSource<Item> {
  readonly eventType: string;
  readonly read: () => Promise<readonly Item[]>;
  /** The item of an event. */
  readonly itemOf: (message: StreamMessage) => Item | undefined;
}

/** Follows a list until the signal: all items first, then each change, and all again after a gap. */
export async function watchList<Item extends OfAgent>(
  client: GatewayClient,
  filter: WatchFilter,
  { eventType, read, itemOf }: WatchSource<Item>,
  listener: WatchListener<Item>,
  limits: WatchLimits,
): Promise<void> {
  const choice = { types: eventType, org_id: filter.org, agent_id: filter.agent };
  const onConnection = (state: 'live' | 'lost', why?: string) => listener.onConnection(state, why);
  let hasList = false;
  for await (const message of followEvents(client, choice, { ...limits, onConnection })) {
    // Reads the list once the stream is open. Changes in between arrive by the stream.
    if (message.event_type === 'gap' || (message.event_type === 'hello' && !hasList)) {
      listener.onAll(await read());
      hasList = true;
      continue;
    }
    const item = message.event_type === eventType ? itemOf(message) : undefined;
    if (item !== undefined && matches(item, filter)) listener.onChange(item);
  }
}

function matches({ agent, run_id: run }: OfAgent, filter: WatchFilter): boolean {
  const fits = (wanted: string | undefined, is: string) => wanted === undefined || wanted === is;
  return (
    fits(filter.org, agent.org_id) &&
    fits(filter.team, agent.team_id) &&
    fits(filter.agent, agent.agent_id) &&
    fits(filter.run, run)
  );
}
