import type { AskedTool, Members, ToolMessage } from '../results/tool-message.ts';
import { argsOf, kindIn, listIn, membersIn, resultsIn, textIn } from '../results/tool-message.ts';

const ids = ['tool_use_id', 'tool_call_id', 'call_id'];
/** Members of a result that say which it is, and how it is to be kept. */
const noResult = new Set([
  ...ids,
  'type',
  'id',
  'name',
  'is_error',
  'status',
  'cache_control',
  'caller',
  'server_name',
]);

/** What tools brought back, in the blocks of a content, which stands at a path. Takes in the calls that blocks ask for. */
export function toolBlocks(content: unknown, path: ToolMessage['path'], calls: Map<string, AskedTool>): ToolMessage[] {
  return listIn(content).flatMap((value, index) => {
    const block = membersIn(value);
    const kind = kindIn(block['type']);
    if (kind.endsWith('tool_use')) {
      calls.set(textIn(block['id']), { name: textIn(block['name']), args: argsOf(block['input']) });
      return [];
    }
    const callId = callIdIn(block);
    if (callId === undefined && !kind.endsWith('tool_result')) return [];
    return resultsIn(block, noResult).map((name) => ({
      call: calls.get(callId ?? ''),
      callId: callId ?? '',
      content: block[name],
      isError: block['is_error'] === true,
      path: [...path, index, name],
      denied: (reason) => reason,
    }));
  });
}

/** The id of the call that something answers. */
function callIdIn(block: Members): string | undefined {
  const id = ids.map((name) => block[name] ?? null).find((each) => each !== null);
  return id === undefined ? undefined : textIn(id);
}
