import { describe, expect, test, vi } from 'vitest';
import { errorCode, flag, frameType, settingId } from '../http2/frame.ts';
import { settingsFrame } from '../http2/settings.ts';
import type { RawClient } from '../testkit/raw-client.ts';
import { data, emptySettings, frame, framed, ping, request } from '../testkit/raw-client.ts';
import type { TestRoutes } from '../testkit/test-server.ts';
import { testServer } from '../testkit/test-server.ts';
import { SharedRoom } from './shared-room.ts';

describe('room for what peers do not take', () => {
  function world(ofStrangers = 1000, ofAccount = 1000) {
    const room = new SharedRoom({ ofStrangers, ofAccount, nearlyFullFrom: 1 / 2 });
    const cut: string[] = [];
    return { room, cut, join: (name: string) => room.join(() => cut.push(name)) };
  }

  test('is shared by strangers: whoever holds most is cut off, until there is some room again', () => {
    const { room, cut, join } = world();
    const small = join('small');
    const [large, larger] = [join('large'), join('larger')];
    small.hold(10);
    large.hold(400);
    larger.hold(500);
    expect([cut, room.held]).toEqual([[], 910]);
    small.hold(110);
    expect([cut, room.held]).toEqual([['larger'], 510]);
    larger.hold(900);
    expect(room.held).toBe(510);
  });

  test('is one for each account, which ends with its last connection', () => {
    const { room, cut, join } = world();
    const [one, other, stranger] = [join('one'), join('other'), join('stranger')];
    one.hold(600);
    one.belongTo('a');
    other.belongTo('b');
    other.hold(900);
    stranger.hold(900);
    expect(cut).toEqual([]);
    const next = join('next');
    next.belongTo('a');
    // The first account stays.
    next.belongTo('b');
    next.hold(500);
    expect([cut, room.held]).toEqual([['one'], 2300]);
    for (const share of [next, other, stranger]) share.leave();
    expect(room.held).toBe(0);
  });

  test('refuses first those with more than their part, once it is half full', () => {
    const { join } = world();
    const [large, small] = [join('large'), join('small')];
    large.hold(450);
    small.hold(40);
    expect([large.isCrowding, small.isCrowding]).toEqual([false, false]);
    small.hold(60);
    expect([large.isCrowding, small.isCrowding]).toEqual([true, false]);
  });

  test('says how long a peer has taken nothing', () => {
    const share = world().join('one');
    expect(share.untakenMs(0, 100)).toBe(0);
    share.hold(10);
    expect(share.untakenMs(0, 150)).toBe(0);
    expect(share.untakenMs(0, 200)).toBe(50);
    expect(share.untakenMs(4, 220)).toBe(0);
    expect(share.untakenMs(4, 250)).toBe(30);
    share.hold(0);
    expect(share.untakenMs(4, 300)).toBe(0);
  });
});

const hello = framed(Buffer.from('hello'));
const noWindow = settingsFrame([[settingId.initialWindowSize, 0]]);
const kibibyte = 1024;

/** `/t/Sized` answers with as many KiB as it is asked for; `/t/A` and `/t/B` trust their callers as these accounts. */
function sized(limits: TestRoutes['limits']): TestRoutes {
  const constant = Buffer.alloc(1024 * kibibyte, 'c');
  return {
    limits: { ...limits },
    unary: {
      '/t/Sized': (message, call) => call.answer(Buffer.alloc(Number(String(message)) * kibibyte)),
      '/t/A': (message, call) => (call.trust('A'), call.answer(message)),
      '/t/B': (message, call) => (call.trust('B'), call.answer(message)),
    },
    stream: {
      '/t/Constant': (stream) => ({
        message: (message) => void stream.send(message, constant),
        ended: () => stream.end(),
        closed: () => undefined,
      }),
    },
  };
}

function ask(here: RawClient, id: number, kib: number): void {
  here.write(request(id, '/t/Sized'), data(id, framed(Buffer.from(String(kib))), true));
}

describe('a server whose peers do not take their answers', () => {
  const limits = { unsentOfStrangers: 100 * kibibyte, unsentOfAccount: 100 * kibibyte };

  test('ends those with most, of strangers together, and answers the others', async () => {
    const { client } = await testServer(sized(limits));
    const good = await client();
    const hostile = await Promise.all(Array.from({ length: 10 }, () => client(noWindow)));
    for (const [at, each] of hostile.entries()) {
      ask(each, 1, at + 10);
      await each.settled();
    }
    await vi.waitFor(() => expect(hostile.some(({ isClosed }) => isClosed)).toBe(true));
    const closed = hostile.filter(({ isClosed }) => isClosed);
    for (const each of closed) expect(await each.goAway()).toBe(errorCode.enhanceYourCalm);
    expect(hostile[0]?.isClosed).toBe(false);
    ask(good, 1, 50);
    expect((await good.answer(1)).get('grpc-status')).toBe('0');
    expect(good.isClosed).toBe(false);
  });

  test('counts each account by itself', async () => {
    const { client } = await testServer(sized(limits));
    const trusted = async (path: string) => {
      const here = await client(emptySettings, request(1, path), data(1, hello, true));
      await here.answer(1);
      here.write(noWindow);
      return here;
    };
    const [a1, a2, b] = [await trusted('/t/A'), await trusted('/t/A'), await trusted('/t/B')];
    ask(b, 3, 90);
    ask(a1, 3, 40);
    await Promise.all([a1.settled(), b.settled()]);
    ask(a2, 3, 70);
    expect(await a2.goAway()).toBe(errorCode.enhanceYourCalm);
    expect([a1.isClosed, b.isClosed]).toEqual([false, false]);
  });

  test('counts what waits in sockets, too', async () => {
    const { client } = await testServer(sized({ ...limits, unsentOfStrangers: 64 * kibibyte }));
    const open = settingsFrame([[settingId.initialWindowSize, 0x7fff_ffff]]);
    const widen = frame(frameType.windowUpdate, 0, 0, Buffer.from([0x7f, 0, 0, 0]));
    const here = await client(open, widen);
    await here.settled();
    here.socket.pause();
    for (let id = 1; id < 40; id += 2) ask(here, id, 1024);
    await new Promise<void>((resolve) => {
      // Writing to it fails once it is gone.
      const again = setInterval(() => here.write(ping()), 50);
      here.socket.once('close', () => (clearInterval(again), resolve()));
    });
  });

  test('does not copy the constant part of a message, and sends it whole', async () => {
    const { client } = await testServer(sized(limits));
    const here = await client(noWindow);
    for (let id = 1; id < 200; id += 2) here.write(request(id, '/t/Constant'), data(id, hello));
    await here.settled();
    expect(here.isClosed).toBe(false);
    here.write(frame(frameType.windowUpdate, 0, 0, Buffer.from([0x7f, 0, 0, 0])));
    for (const part of [3, 4, 1_048_586 - 7]) {
      const increment = Buffer.alloc(4);
      increment.writeUInt32BE(part);
      here.write(frame(frameType.windowUpdate, 0, 1, increment));
    }
    const whole = framed(Buffer.concat([Buffer.from('hello'), Buffer.alloc(1024 * kibibyte, 'c')]));
    await vi.waitFor(() => expect(here.content(1).length).toBe(whole.length));
    expect(here.content(1).equals(whole)).toBe(true);
    here.write(data(1, Buffer.alloc(0), true));
    const last = await here.until(({ stream, flags }) => stream === 1 && (flags & flag.endStream) !== 0);
    expect(last).toBeDefined();
  });

  test('ends a peer that takes nothing for long, of a trusted stream as well, and none that takes some', async () => {
    const { client } = await testServer({ limits: { takeWithinMs: 400 } });
    const stream = [request(1, '/t/Trust'), data(1, hello, true), request(3, '/t/Stream')];
    const [here, slow] = [await client(emptySettings, ...stream), await client(emptySettings, ...stream)];
    await Promise.all([here.answer(1), slow.answer(1)]);
    for (const each of [here, slow]) each.write(noWindow, data(3, framed(Buffer.alloc(1000))));
    const takes = setInterval(() => slow.write(frame(frameType.windowUpdate, 0, 3, Buffer.from([0, 0, 0, 1]))), 50);
    const beats = setInterval(() => here.write(ping()), 50);
    await here.closed();
    clearInterval(takes);
    clearInterval(beats);
    expect(slow.isClosed).toBe(false);
  });
});

describe('a server whose peers leave messages unfinished', () => {
  const limits = { smallMessageBytes: 100 * kibibyte, largeOfAccount: 500 * kibibyte };
  const trusted = [request(1, '/t/A'), data(1, hello, true)];
  const begun = (kib: number) => data(3, framed(Buffer.alloc(1000), kib * kibibyte));

  test('makes large ones of an account wait for each other, whichever connection they came on', async () => {
    const { client } = await testServer(sized(limits));
    const [first, second] = [await client(emptySettings, ...trusted), await client(emptySettings, ...trusted)];
    const other = await client(emptySettings, request(1, '/t/B'), data(1, hello, true));
    for (const each of [first, second, other]) {
      await each.answer(1);
      each.write(request(3, '/t/Sized'), begun(300));
      await each.settled();
    }
    expect([first, second, other].map((each) => each.granted(3) > 0)).toEqual([true, false, true]);
    first.destroy();
    await vi.waitFor(() => expect(second.granted(3)).toBeGreaterThan(0));
  });

  test('ends a slow one of an account for which another waits', async () => {
    const { client } = await testServer(sized({ ...limits, finishWithinMs: 5000 }));
    const [first, second] = [await client(emptySettings, ...trusted), await client(emptySettings, ...trusted)];
    for (const each of [first, second]) {
      await each.answer(1);
      each.write(request(3, '/t/Sized'), begun(300));
      await each.settled();
    }
    expect(await first.reset(3)).toBe(errorCode.enhanceYourCalm);
    await vi.waitFor(() => expect(second.granted(3)).toBeGreaterThan(0), 4000);
  });

  test('ends those with most of what cannot wait', async () => {
    const { client } = await testServer(sized({ ...limits, unfinishedOfAccount: 100 * kibibyte }));
    const [much, little] = [await client(emptySettings, ...trusted), await client(emptySettings, ...trusted)];
    await Promise.all([much.answer(1), little.answer(1)]);
    much.write(request(3, '/t/Sized'), begun(60));
    await much.settled();
    little.write(request(3, '/t/Sized'), begun(50));
    expect(await much.goAway()).toBe(errorCode.enhanceYourCalm);
    await little.settled();
    expect(little.isClosed).toBe(false);
  });
});

describe('a server whose peers leave calls open', () => {
  const open = (here: RawClient, id: number) => here.write(request(id, '/t/Stream'));

  test('refuses those of an account that have their part, says which bound, and ends them if others have none', async () => {
    const { client } = await testServer(sized({ callsOfAccount: 6 }));
    const trusted = [request(1, '/t/A'), data(1, hello, true)];
    const [much, little] = [await client(emptySettings, ...trusted), await client(emptySettings, ...trusted)];
    await Promise.all([much.answer(1), little.answer(1)]);
    for (let id = 3; id <= 15; id += 2) open(much, id);
    const refused = await much.answer(15);
    expect([refused.get('grpc-status'), refused.get('grpc-message')]).toEqual(['8', expect.stringMatching(/^6 calls/)]);
    expect(much.isClosed).toBe(false);
    little.write(request(3, '/t/Stream'), data(3, hello, true));
    expect(await much.goAway()).toBe(errorCode.enhanceYourCalm);
    expect((await little.answer(3)).get('grpc-status')).toBe('0');
    const other = await client(emptySettings, request(1, '/t/B'), data(1, hello, true));
    await other.answer(1);
    for (let id = 3; id <= 13; id += 2) open(other, id);
    await other.settled();
    expect(other.frames.filter(({ type, stream }) => type === frameType.headers && stream > 1)).toHaveLength(0);
  });

  test('gives the place of an ended call to the next', async () => {
    const { client } = await testServer(sized({ callsOfStrangers: 1 }));
    const here = await client();
    for (let id = 1; id <= 9; id += 2) {
      ask(here, id, 1);
      expect((await here.answer(id)).get('grpc-status')).toBe('0');
    }
  });
});
