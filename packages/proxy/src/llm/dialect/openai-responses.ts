import { limitIn } from '../json-request.ts';
import { listIn, membersIn } from '../results/tool-message.ts';
import type { Dialect, SeenUsage, StreamReader } from './dialect.ts';
import { responseUsageOf } from './openai-usage.ts';
import { responseStream } from './response-stream.ts';
import { askedBy, responseToolMessages } from './response-tool-messages.ts';
import { objectIn } from './usage-numbers.ts';

/** `POST /v1/responses`. */
export const openaiResponses: Dialect = {
  kind: 'openai',
  maxOutputOf: (request) => limitIn(request, 'max_output_tokens'),
  choicesOf: () => 1,
  bodyFor: ({ body }) => body,
  texts: { streamed: ['delta'], whole: ['text', 'refusal', 'arguments', 'input'] },
  usageOf: responseUsageOf,
  toolMessages: responseToolMessages,
  // A request may name the response before it in place of what that held.
  askedIn: (answer) =>
    listIn(membersIn(answer)['output'])
      .map((item) => askedBy(membersIn(item)))
      .filter((call) => call !== undefined),
  stream: responseStream,
  readerFor: () => new ResponseReader(),
  errorEvent: ({ code, message }, last) => {
    const event = { type: 'error', code, message, param: null, sequence_number: sequenceAfter(last) };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  },
};

/** The last events of a stream hold the whole response. */
class ResponseReader implements StreamReader {
  usage: SeenUsage | undefined;
  answer: unknown;

  take(data: unknown): boolean {
    const response = objectIn(data, 'response');
    this.answer = response ?? this.answer;
    this.usage = responseUsageOf(response) ?? this.usage;
    return false;
  }
}

function sequenceAfter(last: string): number {
  return Number(/"sequence_number":\s*(\d{1,15})/.exec(last)?.[1] ?? -1) + 1;
}
