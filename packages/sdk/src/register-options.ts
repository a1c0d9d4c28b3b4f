import { randomBytes } from 'node:crypto';
import type { RegisterAgentRequest } from '@reeve/contract';
import type { AgentId } from './agent-id.ts';
import { fullAgentId } from './agent-id.ts';
import type { ConnectionEvent } from './connection-event.ts';
import type { Control } from './control.ts';

/** What happens to an agent outside of any call. */
export interface AgentEvents {
  /** The agent's token is not accepted any more: the agent was registered again elsewhere, or removed. */
  readonly onRevoked?: (() => void) | undefined;
  /** The gateway asks something of an operation of the agent. The SDK sees to it by itself; this is to know of it. */
  readonly onControl?: ((control: Control) => void) | undefined;
  /** The agent can be controlled, or cannot for now. */
  readonly onConnection?: ((event: ConnectionEvent) => void) | undefined;
}

/** What `register` and `attach` have in common. */
interface AgentOptions extends AgentId, AgentEvents {
  /**
   * Whether other processes act as this agent with the same token. This one then speaks for its own operations only.
   * Otherwise an operation that is not known here counts as not running. Default false.
   */
  readonly shared?: boolean | undefined;
}

export interface RegisterOptions extends AgentOptions {
  readonly name?: string | undefined;
  readonly framework?: string | undefined;
  readonly version?: string | undefined;
  /** The agent that spawned this one. */
  readonly parent?: AgentId | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The names of the tools that the agent has. */
  readonly tools?: readonly string[] | undefined;
  /** The token to be known by from now on, at least 32 characters; a random one where left out. */
  readonly token?: string | undefined;
}

export interface AttachOptions extends AgentOptions {
  /** The token with which the agent was registered. */
  readonly token: string;
  /** Default 30. */
  readonly heartbeatIntervalSecs?: number | undefined;
}

/**
 * The request to register. The token is always made here: a retry then registers the same token again, and an attempt
 * that is delayed in the network cannot replace the one that the agent holds.
 */
export function registerRequest(options: RegisterOptions): RegisterAgentRequest {
  const { name = '', framework = '', version = '', parent, metadata = {}, tools = [] } = options;
  return {
    agentId: { ...fullAgentId(options) },
    credentialToken: options.token ?? `rva_${randomBytes(32).toString('base64url')}`,
    name,
    framework,
    version,
    parentAgentId: parent === undefined ? undefined : { ...fullAgentId(parent) },
    metadata: { ...metadata },
    toolNames: [...tools],
  };
}
