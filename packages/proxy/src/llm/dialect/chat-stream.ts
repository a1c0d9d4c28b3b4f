import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import { accumulate } from './accumulate.ts';
import type { StreamForm } from './stream-form.ts';

/** The chunks of a chat, whose choices have a `delta` each in place of a `message`. */
export const chatStream: StreamForm = {
  answerOf: (events) => {
    let answer: Members = {};
    for (const event of events) {
      if (event === '[DONE]') continue;
      const { choices, usage, ...others } = membersIn(event);
      const parts = listIn(choices).map((choice) => {
        const { delta, ...said } = membersIn(choice);
        return { ...said, message: membersIn(delta) };
      });
      answer = accumulate(answer, { choices: parts });
      answer = { ...answer, ...others, ...((usage ?? null) === null ? {} : { usage }) };
    }
    return answer;
  },
  eventsOf: (answer, wantsUsage) => {
    const { choices, usage, error, id, created, model, service_tier, system_fingerprint } = answer;
    const base = { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint };
    const chunks: object[] = listIn(choices).flatMap((choice) => {
      const { index, message, finish_reason } = membersIn(choice);
      const chunk = (delta: object, finish: unknown) => ({
        ...base,
        choices: [{ index, delta, finish_reason: finish }],
      });
      return [chunk(shown(membersIn(message)), null), chunk({}, finish_reason ?? null)];
    });
    if (error !== undefined) chunks.push({ error });
    if (wantsUsage && usage !== undefined) chunks.push({ ...base, choices: [], usage });
    return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
  },
};

/** The members that clients know. Whatever else a provider adds, such as each token once more, stays away. */
function shown(message: Members): Members {
  const known = ['role', 'content', 'refusal', 'reasoning', 'reasoning_content', 'tool_calls', 'function_call'];
  return Object.fromEntries(known.filter((name) => message[name] !== undefined).map((name) => [name, message[name]]));
}
