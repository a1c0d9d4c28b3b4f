/** A tool call. Only this action may leave out its `type`. */
export interface ToolCall {
  readonly type?: 'tool_call' | undefined;
  readonly tool: string;
  /** The origin of the tool, such as the name of an MCP server. */
  readonly source?: string | undefined;
  /** Any JSON value. Policies see it as `args`. */
  readonly args?: unknown;
  readonly url?: string | undefined;
  /** What the server of the tool says of it, such as `{readOnlyHint: true}`. Policies see it as `action.annotations`. */
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** A call of a model. */
export interface LlmCall {
  readonly type: 'llm_call';
  readonly model: string;
  readonly promptTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
}

export interface FileOperation {
  readonly type: 'file_operation';
  /** `read`, `write`, `delete`… */
  readonly operation: string;
  readonly path: string;
}

export interface NetworkCall {
  readonly type: 'network_call';
  readonly host: string;
  readonly port?: number | undefined;
  readonly protocol?: string | undefined;
  /** Asks for a rule that names this very host, without wildcards. No default and no wider rule allows the call then. */
  readonly namedOnly?: boolean | undefined;
}

export interface ProcessExec {
  readonly type: 'process_exec';
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The folder that it runs in. Approvers see it, and approve the command in this folder only. */
  readonly workingDir?: string | undefined;
}

/** The start of another agent, with its command if there is one. */
export interface AgentSpawn {
  readonly type: 'agent_spawn';
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** The folder that it runs in. Approvers see it, and approve the command in this folder only. */
  readonly workingDir?: string | undefined;
}

/** A tool has answered. The agent is about to use the result. */
export interface ToolResult {
  readonly type: 'tool_result';
  readonly tool: string;
  readonly source?: string | undefined;
  /** Any JSON value. */
  readonly result?: unknown;
  readonly url?: string | undefined;
}

/** What an agent is about to do. */
export type Action = ToolCall | LlmCall | FileOperation | NetworkCall | ProcessExec | AgentSpawn | ToolResult;

export type ActionType = NonNullable<Action['type']>;
