import type { Members } from '../results/tool-message.ts';
import { argsOf, listIn, membersIn } from '../results/tool-message.ts';
import { accumulate } from './accumulate.ts';
import type { StreamForm } from './stream-form.ts';
import { namedEvent } from './stream-form.ts';

/** The events of a message: its start, its blocks in parts, and its end. */
export const anthropicStream: StreamForm = {
  answerOf: (events) => {
    let [message, blocks]: [Members | undefined, Members[]] = [undefined, []];
    for (const event of events) {
      const { type, index, content_block, delta, usage, error, message: started } = membersIn(event);
      const at = Number(index);
      if (type === 'message_start') message = membersIn(started);
      if (type === 'content_block_start') blocks[at] = membersIn(content_block);
      if (type === 'content_block_delta') blocks[at] = withDelta(blocks[at] ?? {}, membersIn(delta));
      if (type === 'message_delta') {
        message = { ...message, ...membersIn(delta), usage: { ...membersIn(message?.['usage']), ...membersIn(usage) } };
      }
      if (type === 'error') message = { ...message, error };
    }
    return message === undefined ? undefined : { ...message, content: blocks.filter(Boolean).map(withInput) };
  },
  eventsOf: (answer) => {
    const { content, stop_reason, stop_sequence, usage, error, ...message } = answer;
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
      ...listIn(content).flatMap((block, index) => blockEvents(membersIn(block), index)),
      ...(error === undefined ? [] : [{ type: 'error', error }]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
      { type: 'message_stop' },
    ];
    return events.map(namedEvent).join('');
  },
};

function withDelta(block: Members, { type: _type, citation, ...parts }: Members): Members {
  const grown = accumulate(block, parts);
  return citation === undefined ? grown : { ...grown, citations: [...listIn(block['citations']), citation] };
}

/** The input of a tool comes as parts of a JSON text. */
function withInput({ partial_json, ...block }: Members): Members {
  return partial_json === undefined ? block : { ...block, input: argsOf(partial_json) };
}

/** What the delta of a block of each type brings, and the member that it fills. */
const filled = [
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
  ['signature', 'signature_delta'],
] as const;

function blockEvents(block: Members, index: number): readonly (Members & { readonly type: string })[] {
  const { input, citations: _citations, ...others } = block;
  const parts = filled.filter(([name]) => typeof block[name] === 'string');
  const empty = Object.fromEntries(parts.map(([name]) => [name, '']));
  const deltas: Members[] = parts.map(([name, type]) => ({ type, [name]: block[name] }));
  if (input !== undefined) {
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    deltas.push({ type: 'input_json_delta', partial_json: text });
  }
  const start = { ...others, ...empty, ...(input === undefined ? {} : { input: {} }) };
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}
