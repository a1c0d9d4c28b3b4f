/** An agent's identity: org, team and agent. */
export interface AgentTriple {
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

export interface NewAgent {
  readonly id: AgentTriple;
  readonly parent: AgentTriple | undefined;
  readonly name: string;
}

export interface RegisteredAgent {
  readonly id: AgentTriple;
  readonly token: string;
}

export interface CheckDetails {
  readonly runId: string;
  /** `trace:span`. If undefined, the gateway generates it. */
  readonly opId: string | undefined;
}

/** The calls that the probe makes as agents. Each rejects if the gateway refuses it. */
export interface AgentPort {
  registerAgent(credential: string, agent: NewAgent): Promise<{ readonly token: string }>;
  /** Requests one harmless decision. `opId` is empty if the answer names no operation. */
  check(
    agent: RegisteredAgent,
    about?: CheckDetails,
  ): Promise<{ readonly decision: 'allow' | 'deny' | 'pending'; readonly opId: string }>;
  deregisterAgent(agent: RegisteredAgent): Promise<void>;
}

export interface CallInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
}

export interface ProbeOptions {
  /** The base URL of the HTTP API, without a trailing slash. */
  readonly baseUrl: string;
  /** The global `fetch`, or one that trusts a private certificate. */
  readonly fetch: (url: string, init: CallInit) => Promise<Response>;
  /** An API key, or a token made from one, with admin scope and bound to no tenant. */
  readonly adminCredential: string;
  readonly agents: AgentPort;
}
