import type { Governance } from '../governance.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';

/**
 * What evaluating policies for somebody looks at: a part of the governance, or as much of it as was brought to where
 * the evaluation happens.
 */
export interface EvaluationWorld extends Pick<Governance, 'policies' | 'library' | 'sha256' | 'mostActionMicros'> {
  readonly approvals: { readonly settings: Pick<Governance['approvals']['settings'], 'ttlMs'> };
  readonly clock: Pick<Governance['clock'], 'now'>;
  readonly directory: { find(id: AgentId): Pick<Agent, 'record' | 'lineage'> | undefined };
  readonly ledger: Pick<Governance['ledger'], 'read' | 'resetsAt'>;
  readonly runs: Pick<Governance['runs'], 'of'>;
}
