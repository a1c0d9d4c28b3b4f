import type { AskedTool, Members, ToolMessage } from '../results/tool-message.ts';
import { argsOf, kindIn, listIn, membersIn, resultsIn, textIn } from '../results/tool-message.ts';
import { toolBlocks } from './tool-blocks.ts';

/** Types of items that bring nothing back. Every other one does, also one that is not known yet. */
const noTools = new Set([
  ...['message', 'reasoning', 'item_reference', 'compaction'],
  ...['mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response'],
]);

/** Members that say which call it is, and how it was done. */
const noResult = new Set([
  ...['id', 'type', 'call_id', 'tool_call_id', 'status', 'name', 'namespace', 'execution', 'caller', 'created_by'],
  ...['acknowledged_safety_checks', 'max_output_length'],
]);
/** Members of a call that a model has written. */
const ofCall = new Set([
  ...noResult,
  ...['arguments', 'input', 'action', 'operation', 'code', 'container_id', 'queries', 'server_label', 'environment'],
  ...['approval_request_id', 'pending_safety_checks', 'actions', 'revised_prompt'],
  ...['background', 'output_format', 'quality', 'size'],
]);

/** What tools brought back, in the items of a request for a response. */
export function responseToolMessages(request: Readonly<Record<string, unknown>>): readonly ToolMessage[] {
  const calls = new Map<string, AskedTool>();
  /** The last call of each type. The outputs of some name no call. */
  const byType = new Map<string, AskedTool>();
  return listIn(request['input']).flatMap((value, at) => {
    const item = membersIn(value);
    const kind = kindIn(item['type']);
    const [id, asked] = askedBy(item) ?? [];
    if (id !== undefined && asked !== undefined) {
      calls.set(id, asked);
      byType.set(kind.replace(/_call$/, ''), asked);
    }
    const namesCall = ['call_id', 'tool_call_id'].some((name) => (item[name] ?? null) !== null);
    const isMessage = noTools.has(kind) || (kind === '' && item['role'] !== undefined);
    if (isMessage && !namesCall) return toolBlocks(item['content'], ['input', at, 'content'], calls);
    const callId = textIn(item['call_id'] ?? item['tool_call_id'] ?? item['id']);
    const call = calls.get(callId) ?? (namesCall ? undefined : byType.get(kind.replace(/(?:_call)?_output$/, '')));
    return resultsOf(item, kind).map(([content, ...path]) => ({
      call,
      callId,
      content,
      isError: item['status'] === 'failed' || item['status'] === 'incomplete',
      path: ['input', at, ...path],
      denied: (reason) => deniedOf(kind, path.at(-1), reason),
    }));
  });
}

/** The call that an item asks for, with the id by which others name it. */
export function askedBy(item: Members): readonly [id: string, call: AskedTool] | undefined {
  const type = kindIn(item['type']);
  if (!type.endsWith('_call')) return undefined;
  const { name, arguments: written, input, action, operation, call_id: callId, id } = item;
  const called = typeof name === 'string' ? name : type.slice(0, -'_call'.length);
  return [textIn(callId ?? id), { name: called, args: argsOf(written ?? input ?? action ?? operation) }];
}

/** What a tool brought back, and where it stands in the item. Some items hold both the call and that. */
function resultsOf(item: Members, kind: string): readonly (readonly [content: unknown, ...path: string[]])[] {
  const isCall = kind.endsWith('_call');
  const { sources } = membersIn(isCall ? item['action'] : undefined);
  const found = resultsIn(item, isCall ? ofCall : noResult).map((name) => [item[name], name] as const);
  return listIn(sources).length === 0 ? found : [...found, [sources, 'action', 'sources']];
}

function deniedOf(kind: string, member: string | undefined, reason: string): unknown {
  if (member === 'tools' || member === 'sources') return [];
  return kind === 'shell_call_output' ? [shellOutput(reason)] : reason;
}

function shellOutput(stdout: string): Members {
  return { stdout, stderr: '', outcome: { type: 'exit', exit_code: 1 } };
}
