import type { Agent } from '@reeve/sdk';
import type { Costs } from './costs.ts';
import type { GovernedMethods } from './governed-methods.ts';

/** In whose name calls to one server are checked, and how. */
export interface Governor {
  /** The name of the server, as policies see it. */
  readonly server: string;
  /** The agent. Throws while the gateway is out of reach. */
  readonly agent: () => Promise<Agent>;
  readonly costs: Costs;
  /** What is a check besides calls of tools. */
  readonly methods: GovernedMethods;
  /** The token of the user for whom the agent acts, where the machine says it and not the caller. Throws: nobody may act. */
  readonly subjectToken?: (() => Promise<string | undefined>) | undefined;
  /** How long a call waits for an approval. */
  readonly approvalWaitMs: number;
  /** Whether calls pass without a decision while the gateway is out of reach. */
  readonly failOpen: boolean;
  /** Whether lists keep tools that policy denies whatever the arguments. */
  readonly showDenied: boolean;
  /** One line for the operator of the proxy. */
  readonly warn: (line: string) => void;
}

/** How the operator of the proxy wants calls to be governed. */
export interface GovernOptions
  extends Pick<Governor, 'approvalWaitMs' | 'failOpen' | 'showDenied' | 'warn' | 'subjectToken'> {}

export function governorOf(
  server: string,
  { costs, methods }: Pick<Governor, 'costs' | 'methods'>,
  agent: Governor['agent'],
  { approvalWaitMs, failOpen, showDenied, warn, subjectToken }: GovernOptions,
): Governor {
  return { server, costs, methods, agent, approvalWaitMs, failOpen, showDenied, warn, subjectToken };
}
