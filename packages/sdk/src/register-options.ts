import type { RegisterAgentRequest } from '@reeve/contract';
import type { AgentId } from './agent-id.ts';
import { fullAgentId } from './agent-id.ts';
import type { ConnectionEvent } from './connection-event.ts';
import type { Control } from './control.ts';
import type { TokenNeed } from './credential.ts';

/** Events of an agent outside of any call. */
export interface AgentEvents {
  /** The gateway no longer accepts the token: the agent was registered again elsewhere, or removed. */
  readonly onRevoked?: (() => void) | undefined;
  /** The gateway controls an operation of the agent. The SDK carries the control out. This is for information. */
  readonly onControl?: ((control: Control) => void) | undefined;
  /** The agent can be controlled now, or cannot for now. */
  readonly onConnection?: ((event: ConnectionEvent) => void) | undefined;
}

/** The options of every way to act as an agent. */
export interface ActingOptions extends AgentEvents {
  /**
   * Whether other processes act as this agent with the same token. This process then speaks only for its own
   * operations. Otherwise an operation that it does not know counts as not running. Default false.
   */
  readonly shared?: boolean | undefined;
  /**
   * Whether this process only waits for answers to its checks, and carries out no controls. On its account the agent then
   * need not confirm a stop: nobody would be there to do it. Default false.
   */
  readonly waitsOnly?: boolean | undefined;
}

/** What is known of an agent at its registration. */
export interface EnrollOptions extends AgentId {
  readonly name?: string | undefined;
  readonly framework?: string | undefined;
  readonly version?: string | undefined;
  /** The agent that spawned this one. */
  readonly parent?: AgentId | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The names of the agent's tools. */
  readonly tools?: readonly string[] | undefined;
  /** The new token of the agent, at least 32 characters. Random if left out. */
  readonly token?: string | undefined;
  /**
   * How long the token works, in seconds: 60 to 31,536,000. The SDK renews it by itself, at two thirds of its life, unless
   * it is shared. Left out: always.
   */
  readonly tokenTtlSecs?: number | undefined;
  /** Throws `ReeveTokenInUse` if the agent is registered already, in place of replacing its token. Default false. */
  readonly onlyIfNew?: boolean | undefined;
  /** With `onlyIfNew`: tells the metadata of an agent that is registered already, in place of throwing. Default false. */
  readonly tellMetadata?: boolean | undefined;
}

export interface RegisterOptions extends EnrollOptions, ActingOptions {}

export interface TokenOptions extends ActingOptions {
  /** The token from the registration of the agent. */
  readonly token: string;
  /**
   * Gives another token of the same agent, where tokens come from somewhere else than the gateway: a file that a sidecar
   * rotates, a store that several processes share. Asked when two thirds of the life are over (`due`), and when the gateway
   * no longer accepts the token, for a `check` or a `report`; that call is then made once more. Undefined: there is none,
   * or not yet. With it, the SDK renews nothing by itself, and `shared` tokens are renewed, too.
   */
  readonly nextToken?: ((token: string, need: TokenNeed) => Promise<string | undefined>) | undefined;
  /** Default 30. */
  readonly heartbeatIntervalSecs?: number | undefined;
}

export interface AttachOptions extends AgentId, TokenOptions {
  /** When the token ends and how long such tokens work, if that is known. Otherwise it is not renewed in time. */
  readonly tokenLife?: { readonly expiresAt: Date; readonly ttlSecs: number } | undefined;
}

/**
 * The request to register. The SDK always makes the token here. So a retry registers the same token again, and an
 * attempt that the network delays cannot replace the token that the agent holds.
 * @internal
 */
export function registerRequest(options: EnrollOptions): RegisterAgentRequest {
  const { name = '', framework = '', version = '', parent, metadata = {}, tools = [] } = options;
  return {
    agentId: { ...fullAgentId(options) },
    credentialToken: options.token ?? newToken(),
    name,
    framework,
    version,
    parentAgentId: parent === undefined ? undefined : { ...fullAgentId(parent) },
    metadata: { ...metadata },
    toolNames: [...tools],
    tokenTtlSecs: options.tokenTtlSecs,
    ...(options.onlyIfNew === true ? { onlyIfNew: true, tellMetadata: options.tellMetadata } : {}),
  };
}

function newToken(): string {
  return `rva_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')}`;
}
