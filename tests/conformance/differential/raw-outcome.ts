import { HpackDecoder } from '../../../packages/grpc-server/src/hpack/decoder.ts';
import { flag, frameType } from '../../../packages/grpc-server/src/http2/frame.ts';
import { data, framed, RawClient, request } from '../../../packages/grpc-server/src/testkit/raw-client.ts';
import { servicePath } from '../test-service.ts';
import type { RawCall } from './raw-call.ts';
import { framesOf, openWindows } from './raw-call.ts';

/** How long to wait for an answer that may never come, before it counts as none. */
const patienceMs = 2000;

/**
 * What the client sees of the call, and whether the connection serves another one afterwards. How a stream ends without
 * an answer is said by its code alone.
 */
export async function outcomeOf(port: number, plan: RawCall): Promise<string> {
  const bytes = framesOf(plan);
  const client = await RawClient.open(port, bytes.subarray(0, plan.cutAt));
  try {
    if (plan.cutAt !== undefined && plan.cutAt < bytes.length) return 'cut';
    client.write(openWindows);
    // A reset has no answer.
    if (plan.oddity === 'a reset') return `reset by the client, then ${await next(client)}`;
    const first = await answerOn(client, 1);
    return `${first}, then ${await next(client)}`;
  } finally {
    client.destroy();
  }
}

async function next(client: RawClient): Promise<string> {
  client.write(request(3, `${servicePath}/EmptyCall`), data(3, framed(new Uint8Array()), true));
  return answerOn(client, 3);
}

async function answerOn(client: RawClient, stream: number): Promise<string> {
  const last = client.until(
    (it) =>
      it.stream === stream && (it.type === frameType.rstStream || (it.type <= 1 && (it.flags & flag.endStream) !== 0)),
  );
  const timer = setTimeout(() => client.destroy(), patienceMs);
  await last;
  clearTimeout(timer);
  const fields = fieldsOf(client, stream);
  const reset = client.frames.find((it) => it.stream === stream && it.type === frameType.rstStream);
  const isWhole = client.frames.some((it) => it.stream === stream && it.type <= 1 && (it.flags & flag.endStream) !== 0);
  if (isWhole) return answered(fields, client.content(stream));
  if (reset !== undefined) return `reset ${reset.payload.readUInt32BE(0)}`;
  const goAway = client.frames.find(({ type }) => type === frameType.goAway);
  return goAway === undefined ? 'nothing' : `GOAWAY ${goAway.payload.readUInt32BE(4)}`;
}

function answered(fields: ReadonlyMap<string, string>, content: Buffer): string {
  const http = fields.get(':status') ?? 'none';
  // What a body of HTTP says is up to the engine.
  if (http !== '200') return `status ${http}`;
  const lengths: number[] = [];
  for (let at = 0; at + 5 <= content.length; at += 5 + content.readUInt32BE(at + 1)) {
    lengths.push(content.readUInt32BE(at + 1));
  }
  return `grpc-status ${fields.get('grpc-status') ?? 'none'} after [${lengths.join()}]`;
}

/** The table of a peer is one for all streams, so every block is decoded. */
function fieldsOf(client: RawClient, stream: number): Map<string, string> {
  const decoder = new HpackDecoder(4096, 1 << 20);
  const found = new Map<string, string>();
  for (const { type, stream: id, payload } of client.frames) {
    if (type !== frameType.headers) continue;
    const { fields } = decoder.decode(payload, 0, payload.length);
    if (id === stream) for (const { name, value } of fields) found.set(name, value);
  }
  return found;
}
