import { randomBytes } from 'node:crypto';
import type { RegisterAgentRequest } from '@reeve/contract';
import type { AgentId } from './agent-id.ts';
import { fullAgentId } from './agent-id.ts';

/** What happens to an agent outside of any call. */
interface AgentEvents {
  /** The agent's token is not accepted any more: the agent was registered again elsewhere, or removed. */
  readonly onRevoked?: (() => void) | undefined;
}

export interface RegisterOptions extends AgentId, AgentEvents {
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

export interface AttachOptions extends AgentId, AgentEvents {
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
