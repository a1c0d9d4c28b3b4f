import { bounds } from './bounds.ts';

/** The most that a member of a message may hold. Enums and booleans bound themselves and have no entry. */
export type Bound =
  | { readonly kind: 'text'; readonly most: number }
  | { readonly kind: 'bytes'; readonly most: number }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }
  | { readonly kind: 'message'; readonly of: string }
  | { readonly kind: 'messages'; readonly of: string; readonly items: number }
  | {
      readonly kind: 'texts';
      readonly items: number;
      readonly each: number;
      /** The total of all items, with one character between each two. */
      readonly together: number;
      /** The member that counts with the items, before the first. */
      readonly after?: string;
    }
  | { readonly kind: 'map'; readonly items: number; readonly name: number; readonly value: number }
  | { readonly kind: 'oneof'; readonly members: MessageBounds };

export interface MessageBounds {
  readonly [member: string]: Bound;
}

const text = (most: number) => ({ kind: 'text', most }) as const;
const number = (most: number) => ({ kind: 'number', least: 0, most }) as const;
const message = (of: string) => ({ kind: 'message', of }) as const;

const name = text(bounds.name);
const long = text(bounds.text);
const id = text(bounds.id);
const json = { kind: 'bytes', most: bounds.message } as const;
const count = number(Number.MAX_SAFE_INTEGER);
const tokens = number(bounds.int32);
const sha256 = text(bounds.sha256);
const agent = message('AgentId');
const toolNames = {
  kind: 'texts',
  items: bounds.toolNames.items,
  each: bounds.name,
  together: bounds.toolNames.together,
} as const;
const caller = { agent_id: agent, credential_token: text(bounds.jwt) } as const;

/**
 * Every message that callers send, by its proto name and the proto names of its members. The gateway's `decode` reads
 * no other message. A test fails if a proto member has no entry.
 */
export const messageBounds = {
  AgentId: { org_id: id, team_id: id, agent_id: id },
  LlmCall: { model: name, prompt_tokens: number(bounds.int32), max_output_tokens: number(bounds.int32) },
  ToolCall: {
    tool_name: name,
    tool_source: name,
    args_json: json,
    target_url: long,
    annotations_json: { kind: 'bytes', most: bounds.annotations },
  },
  FileOp: { operation: name, path: long },
  NetworkCall: { host: name, port: number(bounds.port), protocol: name },
  ProcessExec: {
    command: long,
    args: { kind: 'texts', items: bounds.text, each: bounds.text, together: bounds.text, after: 'command' },
    working_dir: long,
  },
  ToolResult: { tool_name: name, tool_source: name, result_json: json, source_url: long },
  ActionContext: {
    action: {
      kind: 'oneof',
      members: {
        llm_call: message('LlmCall'),
        tool_call: message('ToolCall'),
        file_op: message('FileOp'),
        network_call: message('NetworkCall'),
        process_exec: message('ProcessExec'),
        tool_result: message('ToolResult'),
      },
    },
  },
  Via: { name },
  CheckActionRequest: {
    ...caller,
    trace_id: text(bounds.traceId),
    span_id: text(bounds.traceId),
    context: message('ActionContext'),
    caller_agent_id: agent,
    estimated_cost_micros: count,
    run_id: text(bounds.runId),
    summary: long,
    via: message('Via'),
    subject_token: text(bounds.jwt),
  },
  BatchCheckRequest: { requests: { kind: 'messages', of: 'CheckActionRequest', items: bounds.batch } },
  CheckResultRequest: {
    ...caller,
    op_id: text(bounds.opId),
    result_json: { kind: 'bytes', most: bounds.resultMessage },
  },
  CompleteActionRequest: {
    ...caller,
    op_id: text(bounds.opId),
    actual_cost_micros: count,
    detail: long,
    input_tokens: tokens,
    output_tokens: tokens,
    cached_input_tokens: tokens,
  },
  OpControlSubscribeRequest: { ...caller, after_sequence: count },
  AckOpControlRequest: { ...caller, sequence: count, detail: long, processes: count },
  PreviewToolsRequest: { ...caller, tool_source: name, tool_names: toolNames },
  RegisterAgentRequest: {
    agent_id: agent,
    credential_token: text(bounds.credentialToken),
    name,
    framework: name,
    version: text(bounds.version),
    parent_agent_id: agent,
    metadata: {
      kind: 'map',
      items: bounds.metadata.members,
      name: bounds.metadata.name,
      value: bounds.metadata.value,
    },
    tool_names: toolNames,
    token_ttl_secs: count,
  },
  RenewTokenRequest: caller,
  HeartbeatRequest: caller,
  DeregisterAgentRequest: { ...caller, reason: long },
  IdentifyAgentRequest: { credential_token: caller.credential_token },
  ChangedTool: { tool_name: name, locked_sha256: sha256, actual_sha256: sha256 },
  ReportToolDefinitionsRequest: {
    ...caller,
    tool_source: name,
    changed: { kind: 'messages', of: 'ChangedTool', items: bounds.toolNames.items },
  },
  DelegateAgentRequest: {
    ...caller,
    child_id: text(bounds.id),
    ttl_secs: number(bounds.delegation.ttlSecs),
    tools: { kind: 'texts', items: bounds.delegation.tools, each: bounds.name, together: bounds.delegation.together },
    max_cost_micros: count,
    max_checks: count,
    name,
    child_token: text(bounds.credentialToken),
    max_delegates: count,
  },
  RevokeDelegationRequest: { ...caller, child_id: text(bounds.id) },
  HealthCheckRequest: { service: name },
  ServerReflectionRequest: {
    host: name,
    message_request: {
      kind: 'oneof',
      members: {
        file_by_filename: name,
        file_containing_symbol: name,
        file_containing_extension: message('ExtensionRequest'),
        all_extension_numbers_of_type: name,
        list_services: name,
      },
    },
  },
  ExtensionRequest: { containing_type: name, extension_number: number(bounds.int32) },
} as const satisfies Record<string, MessageBounds>;

export type BoundedMessage = keyof typeof messageBounds;
