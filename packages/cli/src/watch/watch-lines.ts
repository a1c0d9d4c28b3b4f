import { agentText } from '../command-line/agent-path.ts';
import type { GlobalValues } from '../command-line/command.ts';
import type { Op } from '../commands/op-filters.ts';
import { controlText, stateText } from '../commands/ops-list.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import type { Shell } from '../shell.ts';
import { asLines } from './as-lines.ts';
import { isOlder, opKey } from './watched-op.ts';
import type { Watch, WatchFilter } from './watch-list.ts';
import { watchOps } from './watched-ops.ts';
import { isOver } from '@reeve/contract/names';

export function watchAsLines(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  filter: WatchFilter,
): Promise<number> {
  return asLines<Op>(shell, globals, {
    watch: oldestFirst(watchOps(client, filter)),
    keyOf: opKey,
    markOf: (op) => `${op.state} ${op.updated_at}`,
    isOlder,
    isOver: ({ state }) => isOver(state),
    cells: (op) => [
      op.updated_at,
      stateText(op).padEnd(10),
      agentText(op.agent),
      op.op_id,
      op.action_type ?? '-',
      op.resource,
      controlText(op),
    ],
  });
}

/** The gateway lists the newest first. */
function oldestFirst(watch: Watch<Op>): Watch<Op> {
  return (listener, limits) =>
    watch(
      {
        onAll: (ops) => listener.onAll(ops.toReversed()),
        onChange: (op) => listener.onChange(op),
        onConnection: (state, why) => listener.onConnection(state, why),
      },
      limits,
    );
}
