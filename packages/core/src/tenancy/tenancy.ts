import type { KnownCallers, KnownKeys } from '../access/index.ts';
import type { Actor, AlertEvent } from '../audit/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { AgentKey, Reactions, ReeveError, Ports } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import type { AgentBounds } from './compact-agent.ts';
import type { DelegationChange } from './delegation.ts';
import type { KnownAgents } from './directory.ts';
import type { KnownReports } from './reported-tools.ts';
import type { AgentChange, AgentEvent, AgentUseChange } from './tenancy-slice.ts';
import type { KnownWorkloads } from './workloads.ts';

/** The control link to a running agent, as far as tenancy needs it. */
export interface AgentLink {
  /** Whether the agent has a stream open by which it carries out controls. */
  carriesOut(key: AgentKey): boolean;
  /** The agent has not confirmed a stop in time. */
  isBlocked(key: AgentKey): boolean;
  /** The agent owes an answer, or gets none itself until it gives one. */
  hasUnanswered(key: AgentKey): boolean;
  endStreams(key: AgentKey, error: ReeveError): void;
  discardEmpty(key: AgentKey): void;
}

/** An agent leaves. */
export interface Leaving {
  readonly agent: Agent;
  readonly actor: Actor;
  /** What its operations say of their end. */
  readonly because: string;
  /** Its operations are shown until they are swept. Otherwise they leave with it. */
  readonly keepsOps: boolean;
}

export interface TenancyReactions {
  /** A silent agent is heard again. */
  readonly agentBack: Reactions<Agent>;
  /** An agent leaves. Its operations end with its registration. */
  readonly agentLeaving: Reactions<Leaving>;
  /** An agent of its own takes the id of a delegate. What that one owes is none of its business. */
  readonly delegateGaveWay: Reactions<Agent>;
}

export interface Agents {
  readonly directory: KnownAgents;
}

/** What the use cases of tenancy work on. */
export interface Tenancy extends Ports, Agents {
  /** Every API key, past or present: which credential derives from which, and who stands behind it. */
  readonly keys: KnownKeys;
  readonly agentBounds: AgentBounds;
  /** Whether those who called may still act. */
  readonly callers: KnownCallers;
  readonly control: AgentLink;
  /** The operations of an agent, of which tenancy knows only whether there are any. */
  readonly ops: { of(agent: Agent): { readonly size: number } };
  /** What the JWTs of workloads have proven. */
  readonly workloads: KnownWorkloads;
  /** Which changed tools were reported of late. */
  readonly reportedTools: KnownReports;
  /** The version of the policies in force, as agents are told. */
  readonly policies: { readonly version: string };
  readonly journal: JournalOf<AgentChange | AgentUseChange | DelegationChange, AgentEvent | AlertEvent>;
  readonly reactions: TenancyReactions;
}
