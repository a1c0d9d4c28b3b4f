import type { AskedTool, Members, ToolMessage } from '../results/tool-message.ts';
import { argsOf, listIn, membersIn, textIn } from '../results/tool-message.ts';

/** What tools brought back, in the items of a request for a response. */
export function responseToolMessages(request: Readonly<Record<string, unknown>>): readonly ToolMessage[] {
  const calls = new Map<string, AskedTool>();
  const found: ToolMessage[] = [];
  for (const [at, value] of listIn(request['input']).entries()) {
    const item = membersIn(value);
    const asked = askedBy(item);
    if (asked !== undefined) calls.set(...asked);
    const member = outputOf(item);
    if (member === undefined) continue;
    const callId = textIn(item['call_id'] ?? item['id']);
    found.push({
      call: calls.get(callId),
      callId,
      content: item[member],
      isError: item['status'] === 'failed' || item['status'] === 'incomplete',
      path: ['input', at, member],
      denied: (reason) => (item['type'] === 'shell_call_output' ? [shellOutput(reason)] : reason),
    });
  }
  return found;
}

/** The call that an item asks for, with the id by which others name it. */
export function askedBy(item: Members): readonly [id: string, call: AskedTool] | undefined {
  const type = textIn(item['type']);
  if (!type.endsWith('_call')) return undefined;
  const { name, arguments: written, input, action, operation, call_id: callId, id } = item;
  const called = typeof name === 'string' ? name : type.slice(0, -'_call'.length);
  return [textIn(callId ?? id), { name: called, args: argsOf(written ?? input ?? action ?? operation) }];
}

/** The member that holds what a tool brought back. Some items hold both the call and that. */
function outputOf(item: Members): string | undefined {
  const type = textIn(item['type']);
  if (!type.endsWith('_call_output') && !type.endsWith('_call')) return undefined;
  return ['output', 'outputs', 'results'].find((name) => (item[name] ?? null) !== null);
}

function shellOutput(stdout: string): Members {
  return { stdout, stderr: '', outcome: { type: 'exit', exit_code: 1 } };
}
