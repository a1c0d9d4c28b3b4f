import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn, textIn } from '../results/tool-message.ts';
import { LiveResponse } from './live-response.ts';
import type { StreamForm } from './stream-form.ts';
import { indexIn, OddStream } from './stream-form.ts';

const lastTypes = /^response\.(completed|incomplete|failed)$/;

/** The events of a response. The last one holds all of it, or the items are in events of their own. */
export const responseStream: StreamForm = {
  answerOf: (events) => {
    let answer: Members | undefined;
    const items = new Map<number, unknown>();
    for (const event of events) {
      const { type, response, output_index: index, item } = membersIn(event);
      const [, status] = lastTypes.exec(textIn(type)) ?? [];
      if (status !== undefined) {
        if (answer !== undefined) throw new OddStream('a response ends twice');
        answer = { ...membersIn(response), status };
      }
      if (type === 'response.output_item.done') {
        const at = indexIn(index);
        if (items.has(at)) throw new OddStream('an item ends twice');
        items.set(at, item);
      }
    }
    if (answer === undefined) throw new OddStream('its events are not understood');
    const output = listIn(answer['output']);
    if (output.length > 0 || items.size === 0) return answer;
    return { ...answer, output: [...items].toSorted(([one], [other]) => one - other).map(([, item]) => item) };
  },
  eventsOf: (answer, how) => new LiveResponse().rest(answer, how),
  live: () => new LiveResponse(),
};
