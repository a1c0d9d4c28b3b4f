import { isDeepStrictEqual } from 'node:util';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { bounds } from '@reeve/contract';
import { isTooDeep } from '../../json/nesting.ts';
import { AnswerScan, jsonOf } from '../answer-scan.ts';
import type { CallStop } from '../call-stop.ts';
import { conceal, concealIn } from '../conceal.ts';
import { OddStream, withoutTokens } from '../dialect/stream-form.ts';
import { eachChunk } from '../each-chunk.ts';
import { interrupt } from '../interrupt-call.ts';
import type { ModelCall } from '../model-call.ts';
import { Refusal } from '../refusal.ts';
import { sendHead } from '../send-head.ts';
import type { CallEnd, CallOperation } from '../settlement.ts';
import { dataOf, SseFramer } from '../sse.ts';
import { LiveForward, refusalOfResult } from './live-forward.ts';
import { membersIn } from './tool-message.ts';

/** Clients and what is between give up on a stream that says nothing for much longer. */
const silenceMs = 10_000;
/** More than any answer has that is as large as can be judged. */
const mostEvents = 200_000;
const mostWritten = 8 * bounds.result;
const sliceBytes = 64 * 1024;
const byteOrderMark = Buffer.from('\uFEFF');
const comment = ': the answer is judged as a whole\n\n';

/**
 * Passes the answer of a model on once it is judged. It is held until it is whole, streams too: what a rule looks for may be
 * spread over any number of events. Of a stream, what is decided before passes as it comes (`LiveForward`), and the whole is
 * judged at its end all the same. A client gets a refusal in place of an answer that may not be read, or of the rest of it;
 * the call happened and is paid all the same.
 */
export async function forwardJudged(
  call: ModelCall,
  answer: IncomingMessage,
  stop: CallStop,
  operation: CallOperation,
): Promise<Pick<CallEnd, 'usage' | 'note'>> {
  const isStream = /^text\/event-stream\s*(;|$)/i.test(answer.headers['content-type'] ?? '');
  const { response, passed } = call;
  const waiting = isStream ? setInterval(() => keepAlive(call, answer), silenceMs) : undefined;
  const live = isStream ? new LiveForward(call, operation, () => beginStream(call, answer)) : undefined;
  try {
    const body = await wholeOf(call, answer, stop, live);
    const { bytes, isChanged } =
      live === undefined
        ? await judgedBody(call, body, answer, operation)
        : await judgedStream(call, body, operation, live);
    // What was judged is written beside what came.
    if (isChanged && !call.answerRoom.take(bytes.length)) throw noRoom(call.opId);
    await stop.passable();
    if (!response.headersSent) sendHead(call, answer, isChanged || isStream ? ofTheBytes : []);
    response.end(conceal(bytes, call.upstream.apiKey));
    return { usage: passed.usage };
  } catch (error) {
    await live?.judgeShown(stop);
    if (!(error instanceof Refusal) || stop.signal.aborted) throw error;
    interrupt(call, error);
    return { usage: passed.usage, note: error.message };
  } finally {
    clearInterval(waiting);
  }
}

/** Headers that say something of the bytes of a body. */
const ofTheBytes = ['content-length', 'content-md5', 'digest', 'content-digest', 'repr-digest', 'etag'];

interface JudgedAnswer {
  readonly bytes: Buffer;
  readonly isChanged: boolean;
}

async function wholeOf(
  call: ModelCall,
  answer: IncomingMessage,
  stop: CallStop,
  live: LiveForward | undefined,
): Promise<Buffer> {
  const { opId, passed, route, answerRoom } = call;
  if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') throw unread(opId, 'it is compressed');
  const { streamed, whole } = route.dialect.texts;
  const scan = new AnswerScan(live === undefined ? whole : streamed);
  const chunks: Buffer[] = [];
  let bytes = 0;
  await eachChunk(answer, async (chunk) => {
    stop.alive();
    bytes += chunk.length;
    if (bytes > bounds.result) throw unread(opId, `it has more than ${bounds.result} bytes`);
    if (!answerRoom.take(chunk.length)) throw noRoom(opId);
    chunks.push(chunk);
    scan.push(chunk);
    passed.textBytes = scan.textBytes;
    await live?.take(chunk, stop);
  });
  const body = Buffer.concat(chunks);
  if (!isUtf8(body)) throw unread(opId, 'it is not valid UTF-8');
  return body;
}

async function judgedBody(
  { opId, passed, route: { dialect }, noteAnswer }: ModelCall,
  body: Buffer,
  { statusCode = 0 }: IncomingMessage,
  operation: CallOperation,
): Promise<JudgedAnswer> {
  const text = body.toString('utf8');
  passed.usage = dialect.usageOf(jsonOf(text));
  const judged = await judge(operation, opId, text, statusCode >= 400);
  if (dialect.askedIn !== undefined) noteAnswer(jsonOf(judged));
  if (judged === text) return { bytes: body, isChanged: false };
  const shown = judged.includes('"logprobs"') ? JSON.stringify(withoutTokens(membersIn(jsonOf(judged)))) : judged;
  return { bytes: Buffer.from(shown), isChanged: true };
}

async function judgedStream(
  call: ModelCall,
  body: Buffer,
  operation: CallOperation,
  live: LiveForward,
): Promise<JudgedAnswer> {
  const { opId, reader, route, passed } = call;
  const { stream } = route.dialect;
  // Its events are read beside its bytes.
  if (!call.answerRoom.take(body.length)) throw noRoom(opId);
  try {
    const events = eventsIn(body);
    for (const value of events) if (typeof value === 'object' && value !== null) reader.take(value);
    passed.usage = reader.usage;
    if (stream === undefined) throw new OddStream('its events are not understood');
    // What passes while it comes is judged without the key, too.
    const answer = concealIn(stream.answerOf(events), call.upstream.apiKey);
    live.isOver = true;
    const judged = await judge(operation, opId, answer, false);
    call.noteAnswer(judged);
    // Never in the bytes of the provider: they may hold what nobody has judged.
    const how = { wantsUsage: reader.wantsUsage ?? true, isMasked: !isDeepStrictEqual(judged, answer) };
    return { bytes: written(live.rest(judged, how) ?? stream.eventsOf(judged, how)), isChanged: true };
  } catch (error) {
    throw error instanceof OddStream ? unread(opId, error.message) : error;
  }
}

/** The data of the events of a stream. */
function eventsIn(body: Buffer): readonly unknown[] {
  // Some clients read the line behind it, others do not.
  if (body.indexOf(byteOrderMark) === 0) throw new OddStream('it begins with a byte order mark');
  const framer = new SseFramer(bounds.result);
  const data: unknown[] = [];
  let count = 0;
  const take = (bytes: Buffer) => {
    if (++count > mostEvents) throw new OddStream(`it has more than ${mostEvents} events`);
    const text = dataOf(bytes);
    if (text === '') return;
    const value = text === '[DONE]' ? text : isTooDeep(text) ? undefined : jsonOf(text);
    if (value === undefined) throw new OddStream('its events are not understood');
    data.push(value);
  };
  for (let from = 0; from < body.length; from += sliceBytes) {
    for (const { bytes } of framer.push(body.subarray(from, from + sliceBytes))) take(bytes);
  }
  const rest = framer.flush();
  if (rest !== undefined) take(rest.bytes);
  return data;
}

/** Some events repeat what others say. */
function written(events: Iterable<string>): Buffer {
  const parts: Buffer[] = [];
  let bytes = 0;
  for (const event of events) {
    const part = Buffer.from(event);
    bytes += part.length;
    if (bytes > mostWritten) throw new OddStream('its events repeat too much');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function judge<Value>(operation: CallOperation, opId: string, value: Value, isError: boolean): Promise<Value> {
  try {
    return await operation.checkResult(value, { isError });
  } catch (error) {
    throw refusalOfResult(error, opId);
  }
}

function noRoom(opId: string): Refusal {
  return new Refusal('overloaded', 'there is no room for further answers that are judged as a whole', opId);
}

function unread(opId: string, why: string): Refusal {
  return new Refusal('policy_denied', `Denied by policy: the answer of the model cannot be judged: ${why}`, opId);
}

function keepAlive(call: ModelCall, answer: IncomingMessage): void {
  const { response } = call;
  if (response.destroyed || response.writableEnded) return;
  beginStream(call, answer);
  response.write(comment);
}

function beginStream(call: ModelCall, answer: IncomingMessage): void {
  if (!call.response.headersSent) sendHead(call, answer, ofTheBytes);
  call.passed.isStream = true;
}
