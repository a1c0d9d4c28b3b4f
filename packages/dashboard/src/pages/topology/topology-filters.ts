import { pathPart } from '@reeve/contract/names';
import type { Filter } from '../../ui/filter-bar.tsx';
import type { TopologyAgent } from './topology-model.ts';
import { order } from './topology-model.ts';

/** The filters, with the existing orgs and teams. If an org is chosen, only its teams. */
export function topologyFilters(agents: readonly TopologyAgent[], org: string | undefined): readonly Filter[] {
  const within = org === undefined ? agents : agents.filter((agent) => pathPart(agent.org_id) === org);
  return [
    { name: 'q', label: 'Search', placeholder: 'Name or path' },
    { name: 'org_id', label: 'Org', choices: choicesOf(agents, 'org_id', 'No org') },
    { name: 'team_id', label: 'Team', choices: choicesOf(within, 'team_id', 'No team') },
    {
      name: 'status',
      label: 'Status',
      choices: [
        { value: 'active', label: 'Active' },
        { value: 'idle', label: 'Idle' },
        { value: 'silent', label: 'Silent' },
        { value: 'suspended', label: 'Suspended' },
      ],
    },
    {
      name: 'uncovered',
      label: 'Without control',
      choices: [
        { value: 'tools', label: 'Acts unchecked' },
        { value: 'model_calls', label: 'Model unchecked' },
      ],
    },
  ];
}

function choicesOf(agents: readonly TopologyAgent[], member: 'org_id' | 'team_id', none: string) {
  return [...new Set(agents.map((agent) => agent[member]))]
    .sort(order)
    .map((id) => ({ value: pathPart(id), label: id === '' ? none : id }));
}
