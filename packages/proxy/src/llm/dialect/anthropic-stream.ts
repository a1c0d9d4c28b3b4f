import { listIn, membersIn } from '../results/tool-message.ts';
import type { Growing } from './accumulate.ts';
import { accumulate, replace } from './accumulate.ts';
import { LiveMessage } from './live-message.ts';
import { grow, withInput } from './message-blocks.ts';
import type { StreamForm } from './stream-form.ts';
import { indexIn, OddStream } from './stream-form.ts';

/** The events of a message: its start, its blocks in parts, and its end. */
export const anthropicStream: StreamForm = {
  answerOf: (events) => {
    let hasStarted = false;
    const message: Growing = {};
    const blocks = new Map<number, Growing>();
    const usages: Growing = {};
    for (const event of events) {
      const { type, index, content_block, delta, usage, error, message: started } = membersIn(event);
      if (type === 'message_start') {
        if (hasStarted) throw new OddStream('a message starts twice');
        hasStarted = true;
        replace(message, membersIn(started));
        replace(usages, membersIn(message['usage']));
      }
      if (type === 'content_block_start') {
        const at = indexIn(index);
        if (blocks.has(at)) throw new OddStream('a block starts twice');
        blocks.set(at, accumulate({}, membersIn(content_block)));
      }
      if (type === 'content_block_delta') grow(blocks.get(indexIn(index)), membersIn(delta));
      if (type === 'message_delta') {
        replace(message, membersIn(delta));
        replace(usages, membersIn(usage));
      }
      if (type === 'error') replace(message, { error });
    }
    if (!hasStarted && message['error'] === undefined) throw new OddStream('its events are not understood');
    if (listIn(message['content']).length > 0) throw new OddStream('a message starts with a content');
    const content = [...blocks].toSorted(([one], [other]) => one - other).map(([, block]) => withInput(block));
    return { ...message, usage: usages, content };
  },
  eventsOf: (answer, how) => new LiveMessage().rest(answer, how),
  live: () => new LiveMessage(),
};
