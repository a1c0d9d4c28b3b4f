import { beforeEach, describe, expect, test } from 'vitest';
import { control, finish, opOf, permissive } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { expireUnchecked } from './register-op.ts';
import { registerOp } from '../testkit/commands.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

const ttlMs = 3_600_000;
let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'));
});

const register = (traceId: string) =>
  finish(g, registerOp(g.gov, operator, { agent: bot.id, traceId, spanId: 's', summary: '' }));

async function expire(most = 100): Promise<number> {
  const count = expireUnchecked(g.gov, ttlMs, most, alwaysListened);
  await finish(g, g.gov.journal.committed());
  return count;
}

describe('an operation that was registered and never checked', () => {
  test('is terminated after its time by the system, on record, with the reason', async () => {
    await register('a');
    g.clock.advance(ttlMs - 1);
    expect(await expire()).toBe(0);
    g.clock.advance(1);
    const entries = (await g.audit()).length;
    expect(await expire()).toBe(1);
    expect(await expire()).toBe(0);
    expect(opOf(g, bot, 'a:s')).toMatchObject({
      state: 'terminated',
      reason: 'registered, and not checked within 3600 s',
    });
    expect((await g.audit()).slice(entries)).toMatchObject([
      { event_type: 'OpStateChanged', actor: { kind: 'system' }, payload: { from: 'pending', to: 'terminated' } },
    ]);
    expect((await g.check(bot, { traceId: 'a', spanId: 's' })).decision).toBe('deny');
  });

  test('has its time from when it was registered, over a restart, too', async () => {
    await register('a');
    g.clock.advance(ttlMs - 1);
    g = await g.crash();
    expect(await expire()).toBe(0);
    g.clock.advance(1);
    expect(await expire()).toBe(1);
  });

  test('goes a few at a time, the oldest first', async () => {
    for (const name of ['a', 'b', 'c']) await register(name);
    g.clock.advance(ttlMs);
    await register('young');
    expect([await expire(2), await expire(2)]).toEqual([2, 1]);
    expect(opOf(g, bot, 'young:s').state).toBe('pending');
  });

  test('is pending again where the store did not take it, and expires later', async () => {
    await register('a');
    g.clock.advance(ttlMs);
    g.failure = new Error('the disk is full');
    expireUnchecked(g.gov, ttlMs, 100, alwaysListened);
    g.turn();
    g.failure = undefined;
    expect(opOf(g, bot, 'a:s').state).toBe('pending');
    expect(await expire()).toBe(1);
  });
});

test('what was checked, or ended otherwise, does not expire', async () => {
  await register('checked');
  await register('ended');
  await g.check(bot, { traceId: 'checked', spanId: 's' });
  await control(g, bot, 'ended:s', 'terminate');
  g.clock.advance(ttlMs);
  expect(await expire()).toBe(0);
  expect(opOf(g, bot, 'checked:s').state).toBe('running');
});
