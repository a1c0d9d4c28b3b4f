import { numberFaultIn } from '@reeve/contract/exact-numbers';
import type { Members } from '../results/tool-message.ts';
import { argsOf, listIn, membersIn } from '../results/tool-message.ts';
import type { Growing } from './accumulate.ts';
import { accumulate, replace } from './accumulate.ts';
import type { StreamForm } from './stream-form.ts';
import { indexIn, namedEvent, OddStream } from './stream-form.ts';

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
  *eventsOf(answer, { isMasked }) {
    const { content, stop_reason, stop_sequence, usage, error, ...message } = answer;
    const begun = { ...message, content: [], stop_reason: null, stop_sequence: null, usage };
    yield namedEvent({ type: 'message_start', message: begun });
    for (const [index, block] of listIn(content).entries()) yield* blockEvents(membersIn(block), index, isMasked);
    if (error !== undefined) yield namedEvent({ type: 'error', error });
    yield namedEvent({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage });
    yield namedEvent({ type: 'message_stop' });
  },
};

function grow(block: Growing | undefined, { type: _type, citation, ...parts }: Members): void {
  if (block === undefined) throw new OddStream('a part is of no block');
  accumulate(block, citation === undefined ? parts : { ...parts, citations: [citation] });
}

/** The input of a tool comes as parts of a JSON text. One with a number that a parser changes stays a text. */
function withInput({ partial_json: written, ...block }: Members): Members {
  if (typeof written !== 'string') return block;
  return { ...block, input: numberFaultIn(written) === undefined ? argsOf(written) : written };
}

/** What the delta of a block of each type brings, and the member that it fills. */
const filled = [
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
  ['signature', 'signature_delta'],
] as const;

function* blockEvents(block: Members, index: number, isMasked: boolean): Iterable<string> {
  const { input, citations, ...others } = block;
  const parts = filled.filter(([name]) => typeof block[name] === 'string');
  const empty = Object.fromEntries(parts.map(([name]) => [name, '']));
  const start = { ...others, ...empty, ...(input === undefined ? {} : { input: {} }) };
  yield namedEvent({ type: 'content_block_start', index, content_block: start });
  const deltas: Members[] = parts.map(([name, type]) => ({ type, [name]: block[name] }));
  if (input !== undefined) {
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    deltas.push({ type: 'input_json_delta', partial_json: text });
  }
  // They quote what a mask may have changed.
  for (const citation of isMasked ? [] : listIn(citations)) deltas.push({ type: 'citations_delta', citation });
  for (const delta of deltas) yield namedEvent({ type: 'content_block_delta', index, delta });
  yield namedEvent({ type: 'content_block_stop', index });
}
