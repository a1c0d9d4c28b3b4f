import type { Arrival } from '../pending-requests.ts';
import type { Message } from '../protocol/message.ts';
import { asResponse, parseMessage, writtenValue } from '../protocol/message.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { isObject, parseWritten } from '../protocol/written-json.ts';
import type { Refusal } from '../transport/exchange.ts';
import { fittingResult, isFittingError } from './fitting-result.ts';

/** Has JSON judged, and gives it as it may be read. Throws if nobody may read it. */
export type JudgeJson = (json: string, isError: boolean) => Promise<string>;

/** What masks leave is no answer of the protocol. */
class NothingLeft extends Error {
  constructor() {
    super('what masks leave of the result is no result any more');
  }
}

/**
 * What came back for a request, as it may be read. Nothing else of it passes: what a server writes beside the result is left
 * out.
 */
export async function judgedArrival(method: string, arrival: Arrival, judge: JudgeJson): Promise<Arrival> {
  const { message, refusal } = arrival;
  if (message !== undefined) return { ...arrival, message: await judgedMessage(method, message, judge) };
  if (refusal !== undefined) return { ...arrival, refusal: await judgedRefusal(refusal, judge) };
  return arrival;
}

async function judgedMessage(method: string, message: Message, judge: JudgeJson): Promise<Message> {
  const written = writtenValue(message) as JsonObject;
  const { result, error } = asResponse(message) ?? { result: undefined, error: undefined };
  const isError = error !== undefined && error !== null;
  const part = (isError ? written['error'] : written['result']) ?? null;
  const sent = JSON.stringify(part);
  const isFailure = isError || (isObject(result) && result['isError'] === true);
  const given = await judge(sent, isFailure);
  const kept = given === sent ? given : fitting(method, isError, part, given);
  const id = JSON.stringify(written['id'] ?? null);
  const judged = parseMessage(`{"jsonrpc":"2.0","id":${id},"${isError ? 'error' : 'result'}":${kept}}`);
  if (judged === undefined) throw new NothingLeft();
  return judged;
}

function fitting(method: string, isError: boolean, before: unknown, given: string): string {
  const after = parseWritten(given);
  const fits = isError ? (isFittingError(before, after) ? after : undefined) : fittingResult(method, before, after);
  if (fits === undefined) throw new NothingLeft();
  return fits === after ? given : JSON.stringify(fits);
}

/** Servers say in the body why they refuse, and in the type of the body whatever they like. */
async function judgedRefusal({ status, body }: Refusal, judge: JudgeJson): Promise<Refusal> {
  const json = jsonOf(body);
  if (json !== undefined) return { status, contentType: 'application/json', body: await judge(json, true) };
  const text = JSON.parse(await judge(JSON.stringify(body), true)) as unknown;
  return { status, contentType: 'text/plain', body: typeof text === 'string' ? text : '' };
}

function jsonOf(body: string): string | undefined {
  try {
    return JSON.stringify(parseWritten(body));
  } catch {
    return undefined;
  }
}
