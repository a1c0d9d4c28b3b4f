import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { bounds } from '@reeve/contract';
import { ResultDenied } from '@reeve/sdk';
import { AnswerScan, jsonOf } from '../answer-scan.ts';
import type { CallStop } from '../call-stop.ts';
import { conceal } from '../conceal.ts';
import { eachChunk } from '../each-chunk.ts';
import { interrupt } from '../interrupt-call.ts';
import type { ModelCall } from '../model-call.ts';
import { Refusal } from '../refusal.ts';
import { sendHead } from '../send-head.ts';
import type { CallEnd, CallOperation } from '../settlement.ts';
import { dataOf, SseFramer } from '../sse.ts';

/** Clients and what is between give up on a stream that says nothing for much longer. */
const silenceMs = 10_000;
const comment = ': the answer is judged as a whole\n\n';

/**
 * Passes the answer of a model on once it is judged. It is held until it is whole, streams too: what a rule looks for may be
 * spread over any number of events. A client gets a refusal in place of an answer that may not be read; the call happened
 * and is paid all the same.
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
  try {
    const body = await wholeOf(call, answer, stop, isStream);
    const { bytes, isChanged } = isStream
      ? await judgedStream(call, body, operation)
      : await judgedBody(call, body, answer, operation);
    await stop.passable();
    if (!response.headersSent) sendHead(call, answer, isChanged || isStream ? ofTheBytes : []);
    response.end(conceal(bytes, call.upstream.apiKey));
    return { usage: passed.usage };
  } catch (error) {
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

async function wholeOf(call: ModelCall, answer: IncomingMessage, stop: CallStop, isStream: boolean): Promise<Buffer> {
  const { opId, passed, route } = call;
  if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') throw unread(opId, 'it is compressed');
  const chunks: Buffer[] = [];
  let bytes = 0;
  await eachChunk(answer, async (chunk) => {
    stop.alive();
    bytes += chunk.length;
    if (bytes > bounds.result) throw unread(opId, `it has more than ${bounds.result} bytes`);
    chunks.push(chunk);
  });
  const body = Buffer.concat(chunks);
  if (!isUtf8(body)) throw unread(opId, 'it is not valid UTF-8');
  const { streamed, whole } = route.dialect.texts;
  const scan = new AnswerScan(isStream ? streamed : whole);
  scan.push(body);
  passed.textBytes = scan.textBytes;
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
  return { bytes: judged === text ? body : Buffer.from(judged), isChanged: judged !== text };
}

async function judgedStream(call: ModelCall, body: Buffer, operation: CallOperation): Promise<JudgedAnswer> {
  const { opId, reader, route, passed } = call;
  const { stream } = route.dialect;
  const framer = new SseFramer(bounds.result);
  const events = framer.push(body);
  const rest = framer.flush();
  const kept: Buffer[] = [];
  const data: unknown[] = [];
  for (const { bytes } of rest === undefined ? events : [...events, rest]) {
    const text = dataOf(bytes);
    const value = text === '' || text === '[DONE]' ? text : jsonOf(text);
    if (value === undefined) throw unread(opId, 'its events are not understood');
    if (text !== '') data.push(value);
    if (typeof value === 'object' && value !== null && reader.take(value)) continue;
    kept.push(bytes);
  }
  passed.usage = reader.usage;
  const answer = stream?.answerOf(data);
  if (stream === undefined || answer === undefined) throw unread(opId, 'its events are not understood');
  const judged = await judge(operation, opId, answer, false);
  call.noteAnswer(judged);
  const isChanged = judged !== answer;
  const bytes = isChanged ? Buffer.from(stream.eventsOf(judged, reader.wantsUsage ?? true)) : Buffer.concat(kept);
  return { bytes, isChanged };
}

async function judge<Value>(operation: CallOperation, opId: string, value: Value, isError: boolean): Promise<Value> {
  try {
    return await operation.checkResult(value, { isError });
  } catch (error) {
    if (!(error instanceof ResultDenied)) throw error;
    const code = error.source === 'gateway' ? 'policy_denied' : 'gateway_unavailable';
    throw new Refusal(code, error.message, opId);
  }
}

function unread(opId: string, why: string): Refusal {
  return new Refusal('policy_denied', `Denied by policy: the answer of the model cannot be judged: ${why}`, opId);
}

function keepAlive(call: ModelCall, answer: IncomingMessage): void {
  const { response, passed } = call;
  if (response.destroyed || response.writableEnded) return;
  if (!response.headersSent) sendHead(call, answer, ofTheBytes);
  passed.isStream = true;
  response.write(comment);
}
