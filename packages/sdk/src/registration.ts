import type { FullAgentId } from './agent-id.ts';
import type { TokenLife } from './credential.ts';
import type { AgentEvents, TokenOptions } from './register-options.ts';

/** What the gateway said in its answer to the last heartbeat. */
export interface AgentStatus {
  readonly suspended: boolean;
  readonly policyVersion: string;
}

export interface Registration {
  readonly id: FullAgentId;
  readonly token: string;
  /** Left out if the token never ends, or nothing is known of its end. */
  readonly life?: TokenLife | undefined;
  readonly created: boolean;
  /** It acts for another agent: its operations end with its token. */
  readonly isDelegate?: true;
  readonly heartbeatMs: number;
  readonly shared: boolean;
  readonly waitsOnly: boolean;
  readonly nextToken?: TokenOptions['nextToken'];
  readonly events: AgentEvents;
}
