import type { Decisions } from '../decision/decisions.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';

/**
 * What evaluating policies for somebody looks at: a part of the governance, or as much of it as was brought to where
 * the evaluation happens.
 */
export interface EvaluationWorld
  extends Pick<Decisions, 'policies' | 'policyRegistry' | 'sha256' | 'mostActionMicros'> {
  readonly approvals: { readonly settings: Pick<Decisions['approvals']['settings'], 'ttlMs'> };
  readonly clock: Pick<Decisions['clock'], 'now'>;
  readonly directory: { find(id: AgentId): Pick<Agent, 'record' | 'lineage'> | undefined };
  readonly ledger: Pick<Decisions['ledger'], 'read' | 'resetsAt'>;
  readonly runs: Pick<Decisions['runs'], 'of'>;
}
