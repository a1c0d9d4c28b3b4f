import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn, textIn } from '../results/tool-message.ts';
import type { StreamForm } from './stream-form.ts';
import { indexIn, namedEvent, OddStream, withoutTokens } from './stream-form.ts';

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
  *eventsOf(answer, { isMasked }) {
    let sequence_number = 0;
    const shown = isMasked ? withoutTokens(answer) : answer;
    for (const event of eventsIn(shown)) yield namedEvent({ ...event, sequence_number: sequence_number++ });
  },
};

type Event = Members & { readonly type: string };

function* eventsIn(answer: Members): Iterable<Event> {
  const { output, status } = answer;
  yield { type: 'response.created', response: { ...answer, output: [], usage: null, status: 'in_progress' } };
  for (const [at, item] of listIn(output).entries()) yield* itemEvents(membersIn(item), at);
  const end = status === 'incomplete' || status === 'failed' ? status : 'completed';
  yield { type: `response.${end}`, response: answer };
}

function* itemEvents(item: Members, output_index: number): Iterable<Event> {
  const { id: item_id, arguments: written, content } = item;
  const place = { output_index, item_id };
  const isCall = typeof written === 'string';
  const empty = { ...(isCall ? { arguments: '' } : {}), ...(Array.isArray(content) ? { content: [] } : {}) };
  yield { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...empty } };
  if (isCall)
    yield* textEvents(item['type'] === 'mcp_call' ? 'mcp_call' : 'function_call', 'arguments', place, written);
  for (const [at, part] of listIn(content).entries())
    yield* partEvents(membersIn(part), { ...place, content_index: at });
  yield { type: 'response.output_item.done', output_index, item };
}

/** The member of a part that comes as a text of its own. */
const texts: ReadonlyMap<unknown, string> = new Map([
  ['output_text', 'text'],
  ['reasoning_text', 'text'],
  ['refusal', 'refusal'],
]);

function* partEvents(part: Members, place: Members): Iterable<Event> {
  const name = texts.get(part['type']);
  const text = name === undefined ? undefined : part[name];
  const isText = name !== undefined && typeof text === 'string';
  yield { type: 'response.content_part.added', ...place, part: isText ? { ...part, [name]: '' } : part };
  if (isText) yield* textEvents(textIn(part['type']), name, place, text);
  yield { type: 'response.content_part.done', ...place, part };
}

function* textEvents(kind: string, name: string, place: Members, text: string): Iterable<Event> {
  const type = `response.${kind}${name === 'arguments' ? '_arguments' : ''}`;
  const logprobs = kind === 'output_text' ? { logprobs: [] } : {};
  yield { type: `${type}.delta`, ...place, delta: text, ...logprobs };
  yield { type: `${type}.done`, ...place, [name]: text, ...logprobs };
}
