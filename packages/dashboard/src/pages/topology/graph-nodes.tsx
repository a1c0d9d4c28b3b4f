import { agentPath } from '@reeve/contract/names';
import type { NodeProps } from '@xyflow/react';
import { Handle, Position } from '@xyflow/react';
import { memo } from 'react';
import { formatCount, plural } from '../../api/format.ts';
import { IconButton } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { Money } from '../../ui/money.tsx';
import { inkTone } from '../../ui/tone.ts';
import { ConditionBadge, conditionNames } from './condition-badge.tsx';
import type { AgentNode, GroupNode } from './flow-nodes.ts';
import { useGraph } from './graph-context.ts';
import type { Summary } from './topology-groups.ts';
import { conditionOf } from './topology-model.ts';

/** Takes the pointer in a graph that would otherwise be dragged. */
const control = 'nodrag nopan pointer-events-auto';

/** An org or a team: a card while closed, a frame around its content while open. */
export const BoxNodeView = memo(function BoxNodeView({ data: { group, isOpen } }: NodeProps<GroupNode>) {
  const { onToggle, holdOf } = useGraph();
  const isOrg = 'teams' in group;
  const name = isOrg ? group.orgId : group.teamId;
  const kind = isOrg ? 'Org' : 'Team';
  const shown = name === '' ? `No ${kind.toLowerCase()}` : name;
  const hold = holdOf({ org_id: group.orgId, ...(isOrg ? {} : { team_id: group.teamId }) });
  return (
    <div
      className={classes(
        'relative size-full rounded-lg border',
        isOpen ? (isOrg ? 'bg-sunken/60' : 'bg-bg') : 'border-edge/60 bg-surface',
      )}
    >
      <Ends />
      <button
        type="button"
        aria-expanded={isOpen}
        title={`${isOpen ? 'Close' : 'Open'} ${shown}`}
        onClick={() => onToggle(group.key)}
        className={classes(
          'relative flex w-full items-center gap-1.5 rounded-lg px-2.5 text-left hover:bg-hover',
          isOpen ? 'h-8' : 'h-9',
          hold !== undefined && 'pr-9',
          control,
        )}
      >
        <Icon name={isOpen ? 'down' : 'right'} className="text-muted" />
        <span className="text-xs text-muted">{kind}</span>{' '}
        <span className="min-w-0 truncate font-semibold">{shown}</span>
        <span className="sr-only">{plural(group.agents, 'agent')}</span>
      </button>
      {hold === undefined ? null : (
        <IconButton
          icon="pause"
          size="small"
          label={`Hold ${kind.toLowerCase()} ${shown} until I resume`}
          className={classes('absolute top-0.5 right-1', control)}
          onClick={hold}
        />
      )}
      <div
        className={classes(
          'flex gap-x-2 px-3 text-xs whitespace-nowrap text-muted',
          isOpen ? '' : 'flex-col gap-y-0.5',
        )}
      >
        {isOpen ? <Troubles group={group} /> : null}
        <span className="truncate">
          {isOrg && !isOpen ? `${plural(group.teams.length, 'team')}, ` : ''}
          {plural(group.agents, 'agent')}, {formatCount(group.inFlight)} in flight
        </span>
        <span className="flex gap-2 truncate">
          <span>
            <Money usd={group.spentUsd} /> today
          </span>
          {isOpen ? null : <Troubles group={group} />}
        </span>
      </div>
    </div>
  );
});

/** Agents that need attention, if any. */
function Troubles({ group: { conditions } }: { readonly group: Summary }) {
  return (
    <>
      <Trouble condition="suspended" agents={conditions.suspended} />
      <Trouble condition="silent" agents={conditions.silent} />
    </>
  );
}

function Trouble({ condition, agents }: { readonly condition: 'suspended' | 'silent'; readonly agents: number }) {
  if (agents === 0) return null;
  const [label, tone] = conditionNames[condition];
  return (
    <span className={classes('font-medium', inkTone[tone])}>
      {formatCount(agents)} {label.toLowerCase()}
    </span>
  );
}

export const AgentNodeView = memo(function AgentNodeView({ data: { agent } }: NodeProps<AgentNode>) {
  const { now, activePath, onOpen, onSuspension } = useGraph();
  const path = agentPath(agent);
  const condition = conditionOf(agent, now);
  const isSuspended = agent.status === 'suspended';
  return (
    <div
      className={classes(
        'relative flex size-full items-center rounded-md border bg-surface',
        condition === 'suspended'
          ? 'border-danger'
          : condition === 'silent'
            ? 'border-dashed border-warn'
            : condition === 'idle'
              ? 'border-dashed border-edge/60'
              : 'border-edge/60',
        activePath === path && 'outline-2 outline-accent',
      )}
    >
      <Ends />
      <button
        type="button"
        title={path}
        onClick={() => onOpen(path)}
        className={classes(
          'relative flex h-full min-w-0 flex-1 flex-col justify-center rounded-md px-2.5 text-left hover:bg-hover',
          control,
        )}
      >
        <span className="w-full truncate text-sm font-medium">{agent.agent_id}</span>{' '}
        <span className="flex w-full items-center gap-1.5 truncate text-xs whitespace-nowrap text-muted">
          {condition === 'active' ? null : <ConditionBadge condition={condition} />}{' '}
          <span className="truncate">
            {formatCount(agent.in_flight)} in flight
            {condition === 'active' ? (
              <>
                , <Money usd={agent.spent_today_usd} />
              </>
            ) : null}
          </span>
        </span>
        <span className="sr-only">
          Agent {path}, {condition}
        </span>
      </button>
      {onSuspension === undefined ? null : (
        <IconButton
          icon={isSuspended ? 'play' : 'pause'}
          size="small"
          label={`${isSuspended ? 'Resume' : 'Suspend'} ${path}`}
          className={classes('mr-1', control)}
          onClick={() => onSuspension(agent)}
        />
      )}
    </div>
  );
});

/** The ends of edges. Users cannot connect anything to them. */
function Ends() {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} className="opacity-0" />
      <Handle type="source" position={Position.Right} isConnectable={false} className="opacity-0" />
    </>
  );
}
