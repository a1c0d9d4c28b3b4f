import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Agent, Reeve } from '@reeve/sdk';
import { ReeveUnauthenticated } from '@reeve/sdk';
import { expect, it } from 'vitest';
import { AgentsByToken } from '../../front/agents-by-token.ts';
import type { Caller } from './caller.ts';
import { callerOf } from './caller.ts';
import { RequestRoom } from './request-room.ts';

const never = new AbortController().signal;

it('made-up tokens take no room of agents', async () => {
  const good = { revoked: false } as Agent;
  let asked = 0;
  const identify = async ({ token }: { readonly token: string }) => {
    asked++;
    if (token !== 'good') throw new ReeveUnauthenticated('nobody');
    return good;
  };
  const agents = new AgentsByToken({ agent: identify } as unknown as Reeve, { mostIdle: 1000, idleMs: 60_000 });
  const find = async (token: string) => agents.find(token).agent;
  for (let each = 0; each < 1200; each++) {
    await expect(find(`bad-${each}`)).rejects.toBeInstanceOf(ReeveUnauthenticated);
  }
  expect(await find('good')).toBe(good);
  const before = asked;
  await expect(find('bad-1199')).rejects.toBeInstanceOf(ReeveUnauthenticated);
  expect(asked).toBe(before);
});

it('an agent takes no more than its part of the room, until its requests are over', async () => {
  const room = new RequestRoom({ mostTogether: 400_000, mostOfCaller: 100_000 });
  const [one, other] = ['one', 'other'].map((agentId) => callerOf({ id: { agentId } } as Agent, never));
  const read = async (caller: Caller | undefined, bytes: number) => {
    const response = new EventEmitter() as unknown as ServerResponse;
    const request = Readable.from([Buffer.alloc(bytes, 32)]) as unknown as IncomingMessage;
    return { response, body: await room.read(request, response, caller as Caller) };
  };
  const first = await read(one, 60_000);
  expect(first.body).toHaveProperty('text');
  const second = await read(one, 60_000);
  expect(second.body).toEqual({ refused: 503 });
  expect((await read(other, 60_000)).body).toHaveProperty('text');
  for (const { response } of [first, second]) response.emit('close');
  expect((await read(one, 60_000)).body).toHaveProperty('text');
});

it('an agent that does not read its answers is cut off, once they take more than its part of the room', () => {
  const room = new RequestRoom({ mostTogether: 100_000, mostOfCaller: 100_000 });
  const [one, other] = [
    callerOf({ id: { agentId: 'one' } } as Agent, never),
    callerOf({ id: { agentId: 'other' } } as Agent, never),
  ];
  const answered = (caller: Caller) => {
    const response = Object.assign(new EventEmitter(), { isCut: false, destroy: () => (response.isCut = true) });
    room.holdAnswer(caller, response as unknown as ServerResponse, 60_000);
    return response;
  };
  const [first, second, third] = [answered(one), answered(one), answered(other)];
  expect([first, second, third].map(({ isCut }) => isCut)).toEqual([false, true, false]);
  for (const response of [first, second]) response.emit('close');
  expect(answered(one).isCut).toBe(false);
});
