import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import type { Growing } from './accumulate.ts';
import type { JudgePiece } from '../results/text-window.ts';
import { HeldBack, judgedValue, TextWindow } from '../results/text-window.ts';
import { accumulate, replace } from './accumulate.ts';
import type { LiveAnswer, StreamForm, Written } from './stream-form.ts';
import { indexIn, OddStream, requireSame } from './stream-form.ts';

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
  eventsOf: (answer, how) => new LiveChat().rest(answer, how),
  live: () => new LiveChat(),
};

/** The members of a message that are texts which people read while they come. */
const texts = ['content', 'refusal', 'reasoning', 'reasoning_content'];

/** What has passed of a choice. */
interface LiveChoice {
  readonly windows: Map<string, TextWindow>;
  hasBegun: boolean;
}

/** As many as a provider gives at most. With more of them, an answer is held until it is whole. */
const mostLive = 128;

class LiveChat implements LiveAnswer {
  readonly #choices = new Map<number, LiveChoice>();
  /** Texts that have grown since they were looked at. An event costs no more for choices that it says nothing of. */
  readonly #grown = new Map<
    TextWindow,
    { readonly choice: LiveChoice; readonly index: number; readonly name: string }
  >();
  #head: Members | undefined;
  #judgedHead: Members | undefined;

  get shown(): readonly unknown[] {
    const windows = [...this.#choices.values()].flatMap((choice) => [...choice.windows.values()]);
    return windows.flatMap(({ taken }) => (taken === '' ? [] : [taken]));
  }

  note(event: unknown): void {
    const { choices, id, created, model, service_tier, system_fingerprint } = membersIn(event);
    this.#head ??= { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint };
    for (const each of listIn(choices)) {
      const { index, delta } = membersIn(each);
      const at = indexIn(index);
      const choice = this.#choiceAt(at);
      for (const name of texts) {
        const text = membersIn(delta)[name];
        if (typeof text !== 'string') continue;
        const window = windowOf(choice, name);
        window.add(text);
        this.#grown.set(window, { choice, index: at, name });
      }
    }
  }

  async *next(judge: JudgePiece): AsyncIterable<string> {
    const grown = [...this.#grown];
    this.#grown.clear();
    for (const [window, { choice, index, name }] of grown) {
      const text = await window.next(judge);
      if (text === '') continue;
      this.#judgedHead ??= await judgedValue(judge, this.#head ?? {});
      const delta = { ...(choice.hasBegun ? {} : { role: 'assistant' }), [name]: text };
      choice.hasBegun = true;
      yield chunkEvent({ ...this.#judgedHead, choices: [{ index, delta, finish_reason: null }] });
    }
  }

  *rest(answer: Members, { wantsUsage, isMasked }: Written): Iterable<string> {
    const { choices, usage, error, id, created, model, service_tier, system_fingerprint, ...others } = answer;
    const base = { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint };
    const { object: _object, ...once } = others;
    let more = isMasked ? {} : once;
    for (const choice of listIn(choices)) {
      const { index, message, finish_reason, ...beside } = membersIn(choice);
      const delta = this.#left(index, isMasked ? shown(membersIn(message)) : membersIn(message));
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
  }

  /** A message without what has passed of it. */
  #left(index: unknown, message: Members): Members {
    const choice = this.#choices.get(Number(index));
    if (choice?.hasBegun !== true) return message;
    const { role, ...left } = message;
    requireSame(role === undefined || role === 'assistant');
    const cut = [...choice.windows].map(([name, window]) => [name, window.restOf(message[name])] as const);
    requireSame(cut.every(([, text]) => text !== undefined));
    return { ...left, ...Object.fromEntries(cut.filter(([name]) => typeof message[name] === 'string')) };
  }

  #choiceAt(index: number): LiveChoice {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    if (this.#choices.size === mostLive) throw new HeldBack('it has many choices');
    const made: LiveChoice = { windows: new Map(), hasBegun: false };
    this.#choices.set(index, made);
    return made;
  }
}

function windowOf({ windows }: LiveChoice, name: string): TextWindow {
  const known = windows.get(name) ?? new TextWindow();
  windows.set(name, known);
  return known;
}

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
