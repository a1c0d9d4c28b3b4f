import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Claim, ConnectionRoom } from './message-room.ts';
import { MessageRoom } from './message-room.ts';
import { SharedRoom } from './shared-room.ts';

const bounds = {
  smallMessageBytes: 10,
  largeInConnection: 90,
  inConnection: 120,
  largeOfStrangers: 200,
  largeOfAccount: 300,
  waitingCalls: 4,
  trustedWaitingCalls: 6,
};
const unfinished = () => new SharedRoom({ ofStrangers: 100, ofAccount: 100 });

class Connection implements ConnectionRoom {
  account: string | undefined;
  held = 0;
  stalled = 0;
  isCutOff = false;
  readonly waiting = new Set<Claim>();
  readonly unfinished;

  constructor(account?: string, shared = new SharedRoom({ ofStrangers: Infinity, ofAccount: Infinity })) {
    this.unfinished = shared.join(() => (this.isCutOff = true));
    if (account !== undefined) this.belongTo(account);
  }

  belongTo(account: string): void {
    this.account = account;
    this.unfinished.belongTo(account);
  }
}

/** A call that counts how often its need is read. */
class Call implements Claim {
  readonly connection: Connection;
  held = 0;
  waitsWith = 0;
  looks = 0;
  isWaiting = false;
  #needed = 0;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get needed(): number {
    this.looks++;
    return this.#needed;
  }

  set needed(needed: number) {
    this.#needed = needed;
  }

  awaitRoom(): void {
    this.isWaiting = true;
  }

  gotRoom(): void {
    this.isWaiting = false;
  }
}

function needs(room: MessageRoom, call: Call, needed: number): boolean {
  call.needed = needed;
  return room.settle(call);
}

function open(room: MessageRoom, connection: Connection, needed: number): Call {
  const call = new Call(connection);
  needs(room, call, needed);
  return call;
}

describe('room', () => {
  test('is asked for again when a call needs more', () => {
    const room = new MessageRoom(bounds);
    const connection = new Connection();
    const call = open(room, connection, 2);
    open(room, connection, 50);
    expect(needs(room, call, 60)).toBe(true);
    expect(call).toMatchObject({ isWaiting: true, held: 2 });
    expect(needs(room, call, 40)).toBe(true);
    expect(call).toMatchObject({ isWaiting: false, held: 40 });
  });

  test('is left for what is small when large messages have theirs', () => {
    const room = new MessageRoom(bounds);
    const connection = new Connection();
    open(room, connection, 90);
    expect(open(room, connection, 20).isWaiting).toBe(true);
    expect(open(room, connection, 10)).toMatchObject({ isWaiting: false, held: 10 });
  });

  test('is not waited for by more than a few', () => {
    const room = new MessageRoom(bounds);
    const connection = new Connection();
    open(room, connection, 90);
    const calls = Array.from({ length: 4 }, () => open(room, connection, 80));
    expect(calls.every(({ isWaiting }) => isWaiting)).toBe(true);
    expect(needs(room, new Call(connection), 80)).toBe(false);
  });

  test('is given to connections that wait for others in the order of their coming', () => {
    const room = new MessageRoom(bounds);
    const first = open(room, new Connection(), 90);
    const second = open(room, new Connection(), 90);
    const [third, fourth] = [open(room, new Connection(), 90), open(room, new Connection(), 60)];
    expect([third.isWaiting, fourth.isWaiting]).toEqual([true, true]);
    needs(room, first, 20);
    expect([third.isWaiting, fourth.isWaiting]).toEqual([false, true]);
    needs(room, second, 0);
    expect([third.isWaiting, fourth.isWaiting]).toEqual([false, false]);
  });

  test('goes to the next in the queue when the first one leaves', () => {
    const room = new MessageRoom(bounds);
    const first = open(room, new Connection(), 90);
    open(room, new Connection(), 90);
    const [large, less] = [open(room, new Connection(), 80), open(room, new Connection(), 30)];
    needs(room, first, 65);
    expect([large.isWaiting, less.isWaiting]).toEqual([true, true]);
    needs(room, large, 0);
    expect(less.isWaiting).toBe(false);
  });

  test('is not given to a connection whose answers are not read, but for what is small', () => {
    const room = new MessageRoom(bounds);
    const connection = new Connection();
    connection.stalled = 1;
    const large = open(room, connection, 20);
    expect(large.isWaiting).toBe(true);
    expect(open(room, connection, 10).isWaiting).toBe(false);
    connection.stalled = 0;
    room.readOn(connection);
    expect(large.isWaiting).toBe(false);
  });
});

describe('room for what is small', () => {
  test('has a bound over all strangers, beyond which whoever holds most is cut off, and nobody waits', () => {
    const room = new MessageRoom(bounds);
    const shared = unfinished();
    const [first, second] = [new Connection(undefined, shared), new Connection(undefined, shared)];
    for (let n = 0; n < 7; n++) expect(open(room, first, 10).isWaiting).toBe(false);
    for (let n = 0; n < 3; n++) expect(open(room, second, 10).isWaiting).toBe(false);
    expect([first.isCutOff, second.isCutOff, shared.held]).toEqual([false, false, 100]);
    expect(open(room, second, 5).isWaiting).toBe(false);
    expect([first.isCutOff, second.isCutOff, shared.held]).toEqual([true, false, 35]);
  });

  test('counts what a large message may send before it has room', () => {
    const room = new MessageRoom(bounds);
    const shared = unfinished();
    const first = open(room, new Connection('a', shared), 290);
    const calls = Array.from({ length: 3 }, () => open(room, new Connection('a', shared), 50));
    expect(calls.map(({ isWaiting, held, waitsWith }) => [isWaiting, held, waitsWith])).toEqual(
      calls.map(() => [true, 0, 10]),
    );
    expect(shared.held).toBe(30);
    needs(room, first, 0);
    expect(calls.map(({ isWaiting, waitsWith }) => [isWaiting, waitsWith])).toEqual(calls.map(() => [false, 0]));
    expect(shared.held).toBe(0);
  });
});

describe('room of an account', () => {
  test('has a bound of its own, and those who wait go on in their order', () => {
    const room = new MessageRoom(bounds);
    const connection = new Connection('a');
    const first = open(room, connection, 290);
    const waiting = Array.from({ length: 6 }, (_, n) => open(room, connection, 100 + n));
    expect(waiting.every(({ isWaiting }) => isWaiting)).toBe(true);
    expect(needs(room, new Call(connection), 50)).toBe(false);
    needs(room, first, 0);
    expect(waiting.map(({ isWaiting }) => isWaiting)).toEqual([false, false, true, true, true, true]);
  });

  test('is one for all its connections, however many, and others have theirs', () => {
    const room = new MessageRoom(bounds);
    const [first, second, third] = ['a', 'a', 'a'].map((account) => open(room, new Connection(account), 140));
    expect([first?.isWaiting, second?.isWaiting, third?.isWaiting]).toEqual([false, false, true]);
    for (const other of [new Connection('b'), new Connection()]) expect(open(room, other, 90).isWaiting).toBe(false);
    if (first !== undefined) needs(room, first, 0);
    expect(third?.isWaiting).toBe(false);
  });

  test('is counted anew once a connection has shown whose it is, and lets those go on who waited behind it', () => {
    const room = new MessageRoom(bounds);
    const connection = new Connection();
    open(room, new Connection(), 90);
    const calls = [open(room, connection, 70), open(room, connection, 60)];
    const behind = open(room, new Connection(), 80);
    expect([...calls, behind].map(({ isWaiting }) => isWaiting)).toEqual([false, true, true]);
    room.leave(connection, calls);
    connection.belongTo('a');
    for (const call of calls) room.settle(call);
    expect([...calls, behind].map(({ isWaiting }) => isWaiting)).toEqual([false, false, false]);
    expect(connection.held).toBe(130);
  });
});

test('a release looks at a few calls, however many there are', () => {
  const room = new MessageRoom(bounds);
  const connections = Array.from({ length: 100 }, () => new Connection());
  const calls = connections.flatMap((connection) => [
    ...Array.from({ length: 100 }, () => open(room, connection, 0)),
    ...Array.from({ length: 4 }, () => open(room, connection, 80)),
  ]);
  const holding = calls.filter(({ held }) => held > 0);
  expect(holding.length).toBeGreaterThan(0);
  for (const call of calls) call.looks = 0;
  for (const call of holding) needs(room, call, 0);
  const looks = calls.reduce((sum, call) => sum + call.looks, 0);
  expect(looks / holding.length).toBeLessThan(50);
});

test('whatever calls need and let go, bounds hold, and nobody waits for ever', () => {
  const steps = fc.array(fc.record({ at: fc.nat(11), needed: fc.nat(90) }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const room = new MessageRoom(bounds);
      const connections = Array.from({ length: 4 }, () => new Connection());
      const calls = connections.flatMap((connection) => Array.from({ length: 3 }, () => new Call(connection)));
      for (const { at, needed } of all) {
        const call = calls[at];
        if (call === undefined) continue;
        const isIdle = call.held === 0 && !call.isWaiting;
        needs(room, call, isIdle ? needed : 0);
        for (const connection of connections) {
          const held = calls.filter((one) => one.connection === connection).reduce((sum, one) => sum + one.held, 0);
          expect(connection.held).toBe(held);
          expect(held).toBeLessThanOrEqual(bounds.inConnection);
        }
        expect(
          calls.filter(({ held }) => held > bounds.smallMessageBytes).reduce((sum, { held }) => sum + held, 0),
        ).toBeLessThanOrEqual(bounds.largeOfStrangers);
      }
      // Calls that have room finish, round after round, until none is left.
      for (let left = calls; left.length > 0; ) {
        const going = left.filter((one) => !one.isWaiting);
        expect(going.length).toBeGreaterThan(0);
        for (const call of going) needs(room, call, 0);
        left = left.filter((one) => !going.includes(one));
      }
    }),
  );
});
