import type { AskedTool, ToolMessage } from '../results/tool-message.ts';
import { argsOf, kindIn, listIn, membersIn, textIn } from '../results/tool-message.ts';
import { toolBlocks } from './tool-blocks.ts';

/** What tools brought back, in the messages of a chat. */
export function chatToolMessages(request: Readonly<Record<string, unknown>>): readonly ToolMessage[] {
  const calls = new Map<string, AskedTool>();
  const byName = new Map<string, AskedTool>();
  const found: ToolMessage[] = [];
  for (const [at, message] of listIn(request['messages']).entries()) {
    const { role, content, tool_call_id: id, name, tool_calls: asked, function_call: one } = membersIn(message);
    for (const call of listIn(asked)) takeCall(calls, call);
    if (one !== undefined && one !== null) {
      const { name: called, arguments: written } = membersIn(one);
      byName.set(textIn(called), { name: textIn(called), args: argsOf(written) });
    }
    const kind = kindIn(role);
    if (kind !== 'tool' && kind !== 'function' && (id ?? null) === null) {
      found.push(...toolBlocks(content, ['messages', at, 'content'], calls));
      continue;
    }
    const callId = kind === 'function' ? undefined : textIn(id);
    const call = callId === undefined ? byName.get(textIn(name)) : calls.get(callId);
    const path = ['messages', at, 'content'];
    found.push({ call, callId, content: content ?? null, isError: false, path, denied: (reason) => reason });
  }
  return found;
}

function takeCall(calls: Map<string, AskedTool>, value: unknown): void {
  const { id, type, function: asked, custom } = membersIn(value);
  const { name, arguments: written, input } = membersIn(type === 'custom' ? custom : asked);
  calls.set(textIn(id), { name: textIn(name), args: argsOf(written ?? input) });
}
