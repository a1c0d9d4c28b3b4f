import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Label, RunDetails, RunOperation, ShownRun } from '@reeve/core';
import { timestamp, usdOfMicros } from '@reeve/core';
import { agentIdJson } from './present-op.ts';

type RunJson = RouteOutput<Routes['listRuns']>['items'][number];
type DetailsJson = RouteOutput<Routes['getRun']>;
type RunOpJson = DetailsJson['operations']['items'][number];

export function runJson({ run, state, labels }: ShownRun): RunJson {
  const { place, agents, checks, denied, costMicros, startedAt, lastAt } = run;
  return {
    run_id: place.runId,
    org_id: place.orgId,
    team_id: place.teamId,
    agent_id: place.agentId === '' ? null : place.agentId,
    state,
    labels: labels.map(labelJson),
    agents: agents.map(({ agentId }) => agentId),
    checks,
    denied,
    cost_usd: usdOfMicros(costMicros),
    started_at: timestamp(startedAt),
    last_at: timestamp(lastAt),
  };
}

export function agentLabelsJson({ agentLabels }: RunDetails): DetailsJson['agent_labels'] {
  return agentLabels.map((label) => ({ ...labelJson(label), agent_id: label.agentId }));
}

export function runOpJson({ decided, state }: RunOperation): RunOpJson {
  const { opId, agent, action, resource, decision, reason, policyRule, costMicros, at } = decided;
  return {
    op_id: opId,
    agent: agentIdJson(agent),
    action_type: action.type,
    resource,
    decision,
    reason,
    policy_rule: policyRule,
    cost_micros: costMicros,
    at: timestamp(at),
    state,
  };
}

function labelJson({ name, since, opId, policyRule }: Label): RunJson['labels'][number] {
  return { name, since: timestamp(since), op_id: opId, policy_rule: policyRule };
}
