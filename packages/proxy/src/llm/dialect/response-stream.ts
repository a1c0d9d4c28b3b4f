import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import type { StreamForm } from './stream-form.ts';
import { namedEvent } from './stream-form.ts';

const lastTypes = /^response\.(?:completed|incomplete|failed)$/;

/** The events of a response. The last one holds all of it. */
export const responseStream: StreamForm = {
  answerOf: (events) => {
    const last = events.map(membersIn).findLast(({ type }) => lastTypes.test(String(type)));
    return last === undefined ? undefined : membersIn(last['response']);
  },
  eventsOf: (answer) => {
    const { output, usage, status } = answer;
    const begun = { ...answer, output: [], usage: null, status: 'in_progress' };
    const events: readonly Event[] = [
      { type: 'response.created', response: begun },
      ...listIn(output).flatMap((item, at) => itemEvents(membersIn(item), at)),
      {
        type: `response.${status === 'incomplete' || status === 'failed' ? status : 'completed'}`,
        response: { ...answer, usage },
      },
    ];
    return events.map((event, sequence_number) => namedEvent({ ...event, sequence_number })).join('');
  },
};

type Event = Members & { readonly type: string };

function itemEvents(item: Members, output_index: number): readonly Event[] {
  const place = { output_index, item_id: item['id'] };
  const isCall = typeof item['arguments'] === 'string';
  const empty = { ...item, status: 'in_progress', ...(isCall ? { arguments: '' } : { content: [] }) };
  const inside = isCall
    ? textEvents('response.function_call_arguments', 'arguments', place, item['arguments'])
    : listIn(item['content']).flatMap((part, at) => partEvents(membersIn(part), { ...place, content_index: at }));
  return [
    { type: 'response.output_item.added', output_index, item: empty },
    ...inside,
    { type: 'response.output_item.done', output_index, item },
  ];
}

function partEvents(part: Members, place: Members): readonly Event[] {
  const name = part['type'] === 'refusal' ? 'refusal' : 'text';
  const kind = name === 'refusal' ? 'response.refusal' : 'response.output_text';
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, [name]: '' } },
    ...textEvents(kind, name, place, part[name]),
    { type: 'response.content_part.done', ...place, part },
  ];
}

function textEvents(kind: string, name: string, place: Members, text: unknown): readonly Event[] {
  const logprobs = kind === 'response.output_text' ? { logprobs: [] } : {};
  return [
    { type: `${kind}.delta`, ...place, delta: text, ...logprobs },
    { type: `${kind}.done`, ...place, [name]: text, ...logprobs },
  ];
}
