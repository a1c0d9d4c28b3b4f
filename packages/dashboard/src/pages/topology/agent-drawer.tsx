import { agentPath, pathPart } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { formatCount } from '../../api/format.ts';
import type { Answer } from '../../api/send.ts';
import { useEvents } from '../../api/use-events.ts';
import { useRefreshOn } from '../../api/use-refresh.ts';
import { useRoute } from '../../api/use-route.ts';
import { useCan } from '../../api/use-session.ts';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { useNow } from '../../ui/now.ts';
import { Time } from '../../ui/time.tsx';
import { Unknown } from '../../ui/unknown.tsx';
import { AgentDelegation } from './agent-delegation.tsx';
import { AgentDoors } from './agent-doors.tsx';
import { AgentLineage } from './agent-lineage.tsx';
import { AgentOps } from './agent-ops.tsx';
import { ConditionBadge } from './condition-badge.tsx';
import type { AgentIds, TopologyAgent } from './topology-model.ts';
import { conditionOf, parseAgentPath } from './topology-model.ts';

interface AgentDrawerProps {
  /** The path of the agent. Undefined while the drawer is closed. */
  readonly path: string | undefined;
  /** What the page already knows of the agent, with live numbers. */
  readonly live: TopologyAgent | undefined;
  readonly onClose: () => void;
  readonly onOpen: (path: string) => void;
  readonly onSuspension: (agent: TopologyAgent) => void;
}

/** The details of one agent. */
export function AgentDrawer({ path, live, onClose, onOpen, onSuspension }: AgentDrawerProps) {
  const ids = path === undefined ? undefined : parseAgentPath(path);
  const mayWrite = useCan('write');
  const isSuspended = live?.suspended_by === 'agent';
  return (
    <Drawer
      isOpen={path !== undefined}
      onClose={onClose}
      title={
        <span className="flex items-center gap-1">
          <span className="min-w-0 truncate" title={path}>
            {ids?.agent_id ?? path}
          </span>
          {path === undefined ? null : <CopyButton text={path} label="Copy the path of the agent" />}
        </span>
      }
      {...(mayWrite && live !== undefined
        ? {
            footer: (
              <Button
                look={isSuspended ? 'primary' : 'danger'}
                icon={isSuspended ? 'play' : 'pause'}
                onClick={() => onSuspension(live)}
              >
                {isSuspended ? 'Resume' : 'Suspend'} agent
              </Button>
            ),
          }
        : {})}
    >
      {ids === undefined ? (
        <p>There is no agent with the path “{path}”. It has three parts: org/team/agent, with “-” for an empty one.</p>
      ) : (
        <AgentDetails ids={ids} live={live} onOpen={onOpen} />
      )}
    </Drawer>
  );
}

interface AgentDetailsProps {
  readonly ids: AgentIds;
  readonly live: TopologyAgent | undefined;
  readonly onOpen: (path: string) => void;
}

function AgentDetails({ ids, live, onOpen }: AgentDetailsProps) {
  const client = useQueryClient();
  const params = { org: pathPart(ids.org_id), team: pathPart(ids.team_id), agent: ids.agent_id };
  const agent = useRoute('getAgent', { params });
  // Its doors and counts follow its operations.
  useRefreshOn(['ops_change'], ['getAgent'], 10_000);
  useEvents(['agent'], (events) => {
    const isAbout = ({ org_id, team_id, agent_id }: (typeof events)[number]) =>
      agentPath({ org_id: org_id ?? '', team_id: team_id ?? '', agent_id: agent_id ?? '' }) === agentPath(ids);
    if (events.some(isAbout)) void client.invalidateQueries({ queryKey: ['getAgent', { params }] });
  });
  return (
    <Loaded query={agent} what="The agent" lines={8}>
      {(record) => (
        <div className="space-y-5">
          <AgentFacts agent={{ ...record, ...live, doors: record.doors }} />
          <AgentDelegation agent={record} onOpen={onOpen} />
          <Section title="Doors">
            <AgentDoors agent={record} />
          </Section>
          <Section title="Lineage">
            <AgentLineage params={params} path={agentPath(ids)} onOpen={onOpen} />
          </Section>
          <Section title="In flight">
            <AgentOps ids={ids} inFlight={live?.in_flight ?? record.in_flight} />
          </Section>
          <Section title="Tools">
            {record.tool_names.length === 0 ? (
              <p className="text-muted">It named none when it registered.</p>
            ) : (
              <ul className="flex flex-wrap gap-1.5">
                {record.tool_names.map((tool) => (
                  <li key={tool}>
                    <code className="rounded-sm bg-sunken px-1.5 py-0.5 break-all">{tool}</code>
                  </li>
                ))}
              </ul>
            )}
          </Section>
          <Section title="Metadata">
            {Object.keys(record.metadata).length === 0 ? (
              <p className="text-muted">It gave none when it registered.</p>
            ) : (
              <List rows={Object.entries(record.metadata)} />
            )}
          </Section>
          <div className="flex flex-wrap gap-2">
            <Link to="/audit" search={narrowed(ids)} className={buttonClasses('plain', 'small')}>
              Audit entries
            </Link>
            <Link to="/budgets" search={{ of: agentPath(ids) }} className={buttonClasses('plain', 'small')}>
              Budget
            </Link>
          </div>
        </div>
      )}
    </Loaded>
  );
}

/** Filters for other pages. They have no name for an empty org or team. */
function narrowed({ org_id, team_id, agent_id }: AgentIds) {
  return { agent_id, ...(org_id === '' ? {} : { org_id }), ...(team_id === '' ? {} : { team_id }) };
}

const suspendedWords = {
  agent: 'The agent itself',
  team: 'Its whole team',
  org: 'Its whole org',
  everything: 'Everything',
} as const;

function AgentFacts({ agent }: { readonly agent: Answer<'getAgent'> }) {
  const now = useNow(10_000);
  const condition = conditionOf(agent, now);
  const rows: (readonly [string, ReactNode])[] = [
    ['Status', <ConditionBadge key="status" condition={condition} />],
    ...(agent.status === 'suspended'
      ? [
          ['Suspended', suspendedWords[agent.suspended_by ?? 'agent']] as const,
          [
            'Reason',
            agent.suspended_reason === null || agent.suspended_reason === '' ? (
              <Unknown key="reason" />
            ) : (
              agent.suspended_reason
            ),
          ] as const,
        ]
      : []),
    ['Org', agent.org_id === '' ? 'none' : agent.org_id],
    ['Team', agent.team_id === '' ? 'none' : agent.team_id],
    ['Name', agent.name === '' ? <Unknown key="name" /> : agent.name],
    ['Framework', agent.framework === '' ? <Unknown key="framework" /> : `${agent.framework} ${agent.version}`],
    ['In flight', formatCount(agent.in_flight)],
    ['Spent today', <Money key="spent" usd={agent.spent_today_usd} />],
    ['Last seen', <Time key="seen" at={agent.last_seen_at} />],
    ['Registered', <Time key="registered" at={agent.registered_at} form="full" />],
  ];
  return <List rows={rows} />;
}

function List({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <Facts>
      {rows.map(([term, value]) => (
        <Fact key={term} name={term}>
          {value}
        </Fact>
      ))}
    </Facts>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">{title}</h3>
      {children}
    </section>
  );
}
