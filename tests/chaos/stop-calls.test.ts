import { status } from '@grpc/grpc-js';
import { connect, constants } from 'node:http2';
import { paths } from '@reeve/contract';
import { expect, test } from 'vitest';
import { allowAll, TestGateway } from '../harness/gateway.ts';

/** A call whose message never ends. Resolves with its status, or with null if its connection was cut. */
async function hangingCall(address: string): Promise<{ readonly ended: Promise<number | null> }> {
  const session = connect(`http://${address}`);
  session.on('error', () => undefined);
  const call = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: paths.checkAction,
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
    te: 'trailers',
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const answer = (headers: Readonly<Record<string, unknown>>) => {
    if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']));
  };
  call.on('response', answer);
  call.on('trailers', answer);
  call.on('error', () => undefined);
  call.on('close', () => resolve(null));
  // The length of a message of 100 bytes, and none of them.
  await new Promise((written) => call.write(Buffer.from([0, 0, 0, 0, 100]), written));
  await new Promise((answered) => session.ping(answered));
  return { ended: promise.finally(() => session.destroy()) };
}

test('a gateway that stops does not wait for a call without end', async () => {
  const env = { SVC_DRAIN_SECS: '1' };
  await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  const { ended } = await hangingCall(gateway.grpc);
  const stopped = gateway.kill('SIGTERM');
  expect(await ended).toBe(status.UNAVAILABLE);
  expect(await stopped).toBe(0);
});
