import type { AskedTool, ToolMessage } from '../results/tool-message.ts';
import { argsOf, listIn, membersIn, textIn } from '../results/tool-message.ts';

/** What tools brought back, in the blocks of messages. */
export function anthropicToolMessages(request: Readonly<Record<string, unknown>>): readonly ToolMessage[] {
  const calls = new Map<string, AskedTool>();
  const found: ToolMessage[] = [];
  for (const [at, message] of listIn(request['messages']).entries()) {
    for (const [index, value] of listIn(membersIn(message)['content']).entries()) {
      const { type, id, name, input, tool_use_id: callId, content, is_error: isError } = membersIn(value);
      const kind = textIn(type);
      if (kind.endsWith('tool_use')) calls.set(textIn(id), { name: textIn(name), args: argsOf(input) });
      // One without content says that there was none.
      if (!kind.endsWith('tool_result') || (content ?? null) === null) continue;
      found.push({
        call: calls.get(textIn(callId)),
        callId: textIn(callId),
        content,
        isError: isError === true,
        path: ['messages', at, 'content', index, 'content'],
        denied: (reason) => reason,
      });
    }
  }
  return found;
}
