import { paths } from '@reeve/contract';
import { expect, test } from 'vitest';
import { freshRoutes } from './fresh-routes.ts';
import type { RpcCall, RpcStream, StreamListener } from './rpc.ts';

const call: RpcCall = { authorization: undefined, traceparent: undefined, credentialShown: () => undefined };

/** A peer that sends whenever it may. */
class EagerPeer {
  readonly heard: number[] = [];
  readonly failures: unknown[] = [];
  isPaused = false;
  readonly listener: StreamListener;

  constructor(catchUp: () => Promise<void>) {
    const stream: RpcStream = {
      isOpen: true,
      open: () => undefined,
      send: () => true,
      pause: () => {
        this.isPaused = true;
      },
      resume: () => {
        this.isPaused = false;
      },
      end: () => undefined,
      fail: (error) => this.failures.push(error),
    };
    const handler = () => ({
      message: (bytes: Uint8Array) => this.heard.push(bytes[0] ?? 0),
      ended: () => this.heard.push(-1),
      closed: () => undefined,
    });
    const routes = freshRoutes({ unary: new Map(), stream: new Map([[paths.opControlStream, handler]]) }, catchUp);
    const listener = routes.stream.get(paths.opControlStream)?.(stream, call);
    if (listener === undefined) throw new Error('the route is missing');
    this.listener = listener;
  }

  /** Returns how many messages were taken. */
  send(most: number): number {
    let sent = 0;
    for (; sent < most && !this.isPaused; sent++) this.listener.message(Uint8Array.of(sent + 1));
    return sent;
  }
}

test('takes no further messages of a stream while the gateway learns what others have done', async () => {
  const learned = Promise.withResolvers<undefined>();
  const peer = new EagerPeer(() => learned.promise);
  expect(peer.send(100)).toBe(1);
  learned.resolve(undefined);
  await expect.poll(() => peer.isPaused).toBe(false);
  expect(peer.heard).toEqual([1]);
});

test('keeps the order of messages that were on their way, and of the end', async () => {
  const peer = new EagerPeer(() => Promise.resolve());
  for (const value of [1, 2, 3]) peer.listener.message(Uint8Array.of(value));
  peer.listener.ended();
  await expect.poll(() => peer.heard).toEqual([1, 2, 3, -1]);
  expect(peer.isPaused).toBe(false);
});

test('ends a stream whose gateway cannot learn it', async () => {
  const peer = new EagerPeer(() => Promise.reject(new Error('away')));
  peer.send(1);
  await expect.poll(() => peer.failures.length).toBe(1);
  expect(peer.heard).toEqual([]);
});
