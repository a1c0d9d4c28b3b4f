import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { AnswerScan, jsonOf } from './answer-scan.ts';
import type { CallStop } from './call-stop.ts';
import { conceal, ConcealedParts } from './conceal.ts';
import type { SeenUsage } from './dialect/dialect.ts';
import { eachChunk } from './each-chunk.ts';
import type { ModelCall } from './model-call.ts';
import { forwardJudged } from './results/forward-judged.ts';
import { sendHead } from './send-head.ts';
import type { CallEnd, CallOperation } from './settlement.ts';
import type { SseEvent } from './sse.ts';
import { dataOf, SseFramer } from './sse.ts';

/** An answer that is no stream is held until it is whole, up to this size, while there is room. Others pass through as they come. */
const mostHeld = 8 * 1024 * 1024;

/** Passes the answer of the upstream on to the client, and reads on the way what was used. */
export async function forwardAnswer(
  call: ModelCall,
  answer: IncomingMessage,
  stop: CallStop,
  operation: CallOperation,
): Promise<CallEnd> {
  const { statusCode: status = 0 } = answer;
  const { usage, note } = await forwarded(call, answer, stop, operation);
  if (status >= 200 && status < 300) return { outcome: 'succeeded', usage, ...(note === undefined ? {} : { note }) };
  // Providers do not charge for errors.
  return { outcome: 'failed', usage, isFree: true, note: `the upstream answered ${status}` };
}

async function forwarded(
  call: ModelCall,
  answer: IncomingMessage,
  stop: CallStop,
  operation: CallOperation,
): Promise<Pick<CallEnd, 'usage' | 'note'>> {
  if (operation.answer.judgeResult) return forwardJudged(call, answer, stop, operation);
  const { headers } = answer;
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
  const isStream = isPlain && /^text\/event-stream\s*(;|$)/i.test(headers['content-type'] ?? '');
  return { usage: await (isStream ? forwardStream(call, answer, stop) : forwardWhole(call, answer, stop)) };
}

/** Events pass on as they come, in the bytes of the upstream. Only whole ones do, so that an error can follow any. */
async function forwardStream(call: ModelCall, answer: IncomingMessage, stop: CallStop): Promise<SeenUsage | undefined> {
  const { response } = call;
  const framer = new SseFramer();
  const scan = new AnswerScan(call.route.dialect.texts.streamed);
  sendHead(call, answer, ['content-length']);
  call.passed.isStream = true;
  // The head goes out with the first event if that is here already, and otherwise without waiting for it.
  setImmediate(() => {
    if (!response.destroyed && !response.writableEnded) response.flushHeaders();
  });
  await eachChunk(answer, (chunk) => {
    stop.alive();
    return send(call, stop, passing(call, framer.push(chunk), scan));
  });
  const rest = framer.flush();
  if (rest !== undefined) await send(call, stop, passing(call, [rest], scan));
  await stop.passable();
  response.end();
  call.noteAnswer(call.reader.answer);
  return call.reader.usage;
}

async function forwardWhole(call: ModelCall, answer: IncomingMessage, stop: CallStop): Promise<SeenUsage | undefined> {
  const { response, upstream, answerRoom } = call;
  const { dialect } = call.route;
  const scan = new AnswerScan(dialect.texts.whole);
  const parts = new ConcealedParts(upstream.apiKey);
  let held: Buffer[] | undefined = [];
  let bytes = 0;
  await eachChunk(answer, async (chunk) => {
    stop.alive();
    bytes += chunk.length;
    scan.push(chunk);
    call.passed.textBytes = scan.textBytes;
    held?.push(chunk);
    if (held !== undefined && bytes <= mostHeld && answerRoom.take(chunk.length)) return;
    const next = held === undefined ? chunk : Buffer.concat(held);
    if (held !== undefined) sendHead(call, answer);
    held = undefined;
    answerRoom.release();
    await send(call, stop, parts.push(next));
  });
  await stop.passable();
  if (held === undefined) response.end(parts.end());
  else {
    const body = Buffer.concat(held);
    sendHead(call, answer);
    response.end(conceal(body, upstream.apiKey));
    if (dialect.askedIn !== undefined) call.noteAnswer(jsonOf(body.toString('utf8')));
  }
  return dialect.usageOf({ usage: scan.usage });
}

/** Those of the events that the client asked for. */
function passing(call: ModelCall, events: readonly SseEvent[], scan: AnswerScan): Buffer {
  const kept = events.filter(({ bytes, isWhole }) => !isWhole || !takeIn(call, bytes));
  for (const { bytes, isWhole } of kept) {
    if (isWhole) scan.reset();
    scan.push(bytes);
  }
  call.passed.textBytes = scan.textBytes;
  const [first] = kept;
  const bytes = kept.length === 1 && first !== undefined ? first.bytes : Buffer.concat(kept.map((each) => each.bytes));
  return conceal(bytes, call.upstream.apiKey);
}

function takeIn({ reader, passed, route }: ModelCall, bytes: Buffer): boolean {
  passed.last = bytes;
  const isLast = route.dialect.askedIn !== undefined && bytes.includes(lastOfResponse);
  if (!isLast && !mayReport(bytes)) return false;
  const data = jsonOf(dataOf(bytes));
  return typeof data === 'object' && data !== null && reader.take(data);
}

const lastOfResponse = Buffer.from('"response.completed"');
const usageKey = Buffer.from('"usage"');
const noValue = Buffer.from(':null');

/** Whether an event may say what was used. Some providers put `"usage":null` into each that does not. */
function mayReport(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(usageKey); at >= 0; at = bytes.indexOf(usageKey, at)) {
    at += usageKey.length;
    if (!bytes.subarray(at, at + noValue.length).equals(noValue)) return true;
  }
  return false;
}

async function send({ response }: ModelCall, stop: CallStop, bytes: Buffer): Promise<void> {
  if (bytes.length === 0) return;
  await stop.passable();
  if (!response.write(bytes)) await once(response, 'drain', { signal: stop.signal });
}
