import { agentText } from '../command-line/agent-path.ts';
import type { GlobalValues } from '../command-line/command.ts';
import { approvedText } from '../commands/approval-columns.ts';
import type { Approval } from '../commands/approval-filters.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import type { Shell } from '../shell.ts';
import { asLines } from '../watch/as-lines.ts';
import type { WatchFilter } from '../watch/watch-list.ts';
import { watchApprovals } from './watched-approvals.ts';

export function followApprovals(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  filter: WatchFilter,
): Promise<number> {
  return asLines<Approval>(shell, globals, {
    watch: watchApprovals(client, filter),
    keyOf: ({ id }) => id,
    markOf: ({ state, verdicts }) => `${state} ${verdicts.length}`,
    isOlder: (approval, known) =>
      approval.verdicts.length < known.verdicts.length || (approval.state === 'open' && known.state !== 'open'),
    isOver: ({ state }) => state !== 'open',
    cells: (approval) => [
      approval.decided_at ?? approval.requested_at,
      approval.state.padEnd(9),
      approval.id,
      agentText(approval.agent),
      approval.title,
      approval.policy_rule,
      `${approval.cost_usd} USD`,
      approval.state === 'open' ? `${approvedText(approval)}, until ${approval.expires_at}` : '',
    ],
  });
}
