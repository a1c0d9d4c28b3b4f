import type { AskedTool, ToolMessage } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import { toolBlocks } from './tool-blocks.ts';

/** What tools brought back, in the blocks of messages. */
export function anthropicToolMessages(request: Readonly<Record<string, unknown>>): readonly ToolMessage[] {
  const calls = new Map<string, AskedTool>();
  return listIn(request['messages']).flatMap((message, at) =>
    toolBlocks(membersIn(message)['content'], ['messages', at, 'content'], calls),
  );
}
