import type { Client } from '@grpc/grpc-js';
import { Metadata, status } from '@grpc/grpc-js';
import * as fc from 'fast-check';
import { writeBody, writeCallRequest } from '../test-messages.ts';
import { initialEcho, servicePath, trailingEcho } from '../test-service.ts';

/** A call of a real client. */
export interface ClientCall {
  readonly path: string;
  readonly initial: readonly string[];
  readonly trailing: readonly Uint8Array[];
  readonly others: readonly (readonly [string, string | Buffer])[];
  readonly messages: readonly Uint8Array[];
  /** What the client does after its messages: it ends, gives up after as many answers, or has a deadline. */
  readonly ending: 'end' | { readonly cancelAfter: number } | { readonly deadlineMs: number };
}

/** What the client sees. The words of a status are compared only if the service chose them. */
export interface ClientOutcome {
  readonly code: number;
  readonly details: string;
  readonly messages: readonly string[];
  readonly initial: readonly unknown[];
  readonly trailing: readonly unknown[];
}

/** Around the sizes of a frame and of a window, less the prefixes of messages. */
const edges = [0, 1, 2, 100, 16_374, 16_379, 16_384, 32_758, 65_520, 65_530, 65_535, 65_536, 131_070];
const size = fc.oneof(
  fc.nat(300),
  fc.tuple(fc.constantFrom(...edges), fc.nat(12)).map(([edge, more]) => edge + more),
);
const text = fc.string({ unit: fc.constantFrom(...'abc XYZ019-_.~!"%&='.split('')), minLength: 1, maxLength: 20 });
const value = text.map((it) => it.trim()).filter((it) => it !== '');
const askedStatus = fc.record({
  code: fc.integer({ min: 1, max: 16 }),
  message: fc.string({ unit: 'binary', maxLength: 20 }).map((it) => it.toWellFormed()),
});
const others = fc.oneof(
  fc.tuple(fc.constantFrom('x-a', 'x-b', 'a.b_c-d'), value),
  fc.tuple(fc.constantFrom('x-a-bin', 'b-bin'), fc.uint8Array({ maxLength: 40 }).map(Buffer.from)),
);
const metadata = {
  initial: fc.array(value, { maxLength: 2 }),
  trailing: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 2 }),
  others: fc.array(others, { maxLength: 3 }),
};
const responses = fc.array(
  size.map((it) => ({ size: it, intervalMicros: 0 })),
  { minLength: 1, maxLength: 3 },
);
const asking = fc.tuple(responses, size).map(([all, payload]) => ({
  message: writeCallRequest({ responses: all }, payload),
  responses: all.length,
}));
const end = fc.constant('end' as const);
const duplex = `${servicePath}/FullDuplexCall`;

const unary = fc.record({
  path: fc.constantFrom(`${servicePath}/UnaryCall`, `${servicePath}/EmptyCall`, `${servicePath}/None`, '/none/None'),
  ...metadata,
  messages: fc
    .oneof(
      fc.tuple(size, size).map(([answer, payload]) => writeCallRequest({ responseSize: answer }, payload)),
      askedStatus.map((it) => writeCallRequest({ status: it })),
    )
    .map((it) => [it]),
  ending: end,
});
const input = fc.record({
  path: fc.constant(`${servicePath}/StreamingInputCall`),
  ...metadata,
  messages: fc.array(size.map(writeBody), { maxLength: 5 }),
  ending: end,
});
const stream = fc
  .tuple(fc.array(asking, { maxLength: 4 }), fc.option(askedStatus), fc.record(metadata))
  .map(([asked, failure, rest]): ClientCall => {
    const failing = failure === null ? [] : [writeCallRequest({ status: failure })];
    return { path: duplex, ...rest, messages: [...asked.map(({ message }) => message), ...failing], ending: 'end' };
  });
/** It gives up after an answer, because grpc-js never tells a server of a call that it gives up at once. */
const cancelled = fc
  .tuple(fc.array(asking, { minLength: 1, maxLength: 3 }), fc.nat(5), fc.record(metadata))
  .map(([asked, most, rest]): ClientCall => {
    const count = asked.reduce((sum, it) => sum + it.responses, 0);
    const cancelAfter = 1 + (most % count);
    return { path: duplex, ...rest, messages: asked.map(({ message }) => message), ending: { cancelAfter } };
  });
const late = fc
  .tuple(fc.integer({ min: 1, max: 20 }), fc.nat(100), fc.record(metadata))
  .map(([deadlineMs, payload, rest]): ClientCall => {
    const slow = writeCallRequest({ responses: [{ size: 1, intervalMicros: 10_000_000 }] }, payload);
    return { path: duplex, ...rest, messages: [slow], ending: { deadlineMs } };
  });

export const clientCalls: fc.Arbitrary<ClientCall> = fc.oneof(
  { weight: 6, arbitrary: unary },
  { weight: 3, arbitrary: input },
  { weight: 6, arbitrary: stream },
  { weight: 2, arbitrary: cancelled },
  { weight: 1, arbitrary: late },
);

const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Makes the call. Every kind of call is sent as a stream, so that whatever comes is seen. */
export function callBy(client: Client, plan: ClientCall): Promise<ClientOutcome> {
  const { ending } = plan;
  const options =
    typeof ending === 'object' && 'deadlineMs' in ending ? { deadline: Date.now() + ending.deadlineMs } : {};
  const call = client.makeBidiStreamRequest(plan.path, asIs, asIs, metadataOf(plan), options);
  const cancelAfter = typeof ending === 'object' && 'cancelAfter' in ending ? ending.cancelAfter : undefined;
  const messages: string[] = [];
  let initial: unknown[] = [];
  const outcome = new Promise<ClientOutcome>((resolve) => {
    call.on('metadata', (received) => {
      initial = received.get(initialEcho);
    });
    call.on('data', (bytes: Buffer) => {
      if (messages.length === cancelAfter) return;
      messages.push(`${bytes.length} bytes, ${bytes.subarray(0, 12).toString('hex')}`);
      if (messages.length === cancelAfter) call.cancel();
    });
    call.on('error', () => undefined);
    call.on('status', ({ code, details, metadata: received }) => {
      const isOwnWords = code === status.OK || code === status.UNIMPLEMENTED || ending !== 'end';
      const common = { code, details: isOwnWords ? '' : details, messages };
      // Whether the head came before the client gave up is chance.
      if (ending !== 'end') resolve({ ...common, initial: [], trailing: [] });
      else {
        // An engine may send the head of a failed call together with the status: "Trailers-Only".
        const told = [...initial, ...received.get(initialEcho)];
        resolve({ ...common, initial: told, trailing: received.get(trailingEcho) });
      }
    });
  });
  for (const message of plan.messages) call.write(message);
  if (ending === 'end') call.end();
  return outcome;
}

function metadataOf({ initial, trailing, others: rest }: ClientCall): Metadata {
  const all = new Metadata();
  for (const it of initial) all.add(initialEcho, it);
  for (const it of trailing) all.add(trailingEcho, Buffer.from(it));
  for (const [name, it] of rest) all.add(name, it);
  return all;
}
