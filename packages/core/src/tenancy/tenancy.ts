import type { KeyRing } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { AgentKey, Reactions, ReeveError, Ports } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import type { AgentDirectory } from './directory.ts';
import type { AgentChange, AgentEvent } from './tenancy-slice.ts';

/** How an agent is reached while it runs, as far as tenancy needs to know. */
export interface AgentLink {
  hasStream(key: AgentKey): boolean;
  /** It has not confirmed a stop in time. */
  isBlocked(key: AgentKey): boolean;
  /** It has something to answer to, or is kept from being answered until it does. */
  owesAnything(key: AgentKey): boolean;
  endStreams(key: AgentKey, error: ReeveError): void;
  discardEmpty(key: AgentKey): void;
}

export interface TenancyReactions {
  /** An agent that had fallen silent is heard of again. */
  readonly agentBack: Reactions<Agent>;
  /** An agent leaves: what it has in flight ends with its registration. */
  readonly agentLeaving: Reactions<{ readonly agent: Agent; readonly actor: Actor }>;
}

/** What is looked up of agents. */
export interface Agents {
  readonly directory: AgentDirectory;
}

/** What the use cases of tenancy work on. */
export interface Tenancy extends Ports, Agents {
  /** Every API key there is or was: which credential comes from which, and who stands behind it. */
  readonly keys: KeyRing;
  readonly control: AgentLink;
  /** The version of the policies in force, which agents are told. */
  readonly policies: { readonly version: string };
  readonly journal: JournalOf<AgentChange, AgentEvent>;
  readonly reactions: TenancyReactions;
}
