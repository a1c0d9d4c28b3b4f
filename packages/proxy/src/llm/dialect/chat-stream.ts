import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import type { Growing } from './accumulate.ts';
import { accumulate, replace } from './accumulate.ts';
import type { StreamForm } from './stream-form.ts';
import { OddStream } from './stream-form.ts';

/** The chunks of a chat, whose choices have a `delta` each in place of a `message`. */
export const chatStream: StreamForm = {
  answerOf: (events) => {
    const said: Growing = {};
    // What is said of the whole answer, each chunk says anew.
    const latest: Growing = {};
    const chunks = events.filter((event) => event !== '[DONE]');
    if (chunks.length === 0) throw new OddStream('it has no events');
    for (const chunk of chunks) {
      const { choices, usage, ...others } = membersIn(chunk);
      accumulate(said, { choices: listIn(choices).map(choiceOf) });
      replace(latest, (usage ?? null) === null ? others : { ...others, usage });
    }
    return { ...said, ...latest };
  },
  *eventsOf(answer, { wantsUsage, isMasked }) {
    const { choices, usage, error, id, created, model, service_tier, system_fingerprint, ...others } = answer;
    const base = { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint };
    const { object: _object, ...once } = others;
    let more = isMasked ? {} : once;
    for (const choice of listIn(choices)) {
      const { index, message, finish_reason, ...beside } = membersIn(choice);
      const delta = isMasked ? shown(membersIn(message)) : message;
      yield chunkEvent({
        ...base,
        ...more,
        choices: [{ ...(isMasked ? {} : beside), index, delta, finish_reason: null }],
      });
      yield chunkEvent({ ...base, choices: [{ index, delta: {}, finish_reason: finish_reason ?? null }] });
      more = {};
    }
    if (Object.keys(more).length > 0) yield chunkEvent({ ...base, ...more, choices: [] });
    if (error !== undefined) yield chunkEvent({ error });
    if (wantsUsage && usage !== undefined) yield chunkEvent({ ...base, choices: [], usage });
    yield 'data: [DONE]\n\n';
  },
};

function choiceOf(choice: unknown): Members {
  const { delta, ...said } = membersIn(choice);
  return { ...said, message: membersIn(delta) };
}

function chunkEvent(chunk: Members): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The members that clients know. Whatever else a provider adds, such as each token once more, stays away. */
function shown(message: Members): Members {
  const known = ['role', 'content', 'refusal', 'reasoning', 'reasoning_content', 'tool_calls', 'function_call'];
  return Object.fromEntries(known.filter((name) => message[name] !== undefined).map((name) => [name, message[name]]));
}
