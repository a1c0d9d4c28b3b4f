import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { agentKey } from '../kernel/ids.ts';
import { findDecision } from './explain-decision.ts';

let world: TestGovernance;
let store: MemoryStore;
let bot: TestAgent;

beforeEach(async () => {
  store = new MemoryStore();
  world = await testGovernance({ store });
  await world.policies('name: p\ndefault: allow\nrules: [{ name: no, effect: deny, tools: [rm] }]\n');
  bot = await world.register(agentId('acme/search/bot'));
  for (const agent of [
    bot,
    await world.register(agentId('umbrella/lab/bot')),
    await world.register(agentId('//bot')),
  ]) {
    await world.check(agent, { traceId: 't', spanId: 's' });
  }
  await world.check(bot, { traceId: 'own', spanId: 's' });
});

const find = (id: string, by: Principal = operator) => findDecision(store, by, id);
const ownerOf = async (id: string, by?: Principal) => agentKey((await find(id, by)).agent);
const bound = (orgId: string): Principal => ({ ...operator, orgId });

describe('the decision about an operation', () => {
  test('is found by an id that one agent has, and by the full id of each that has it', async () => {
    expect(await ownerOf('own:s')).toBe('acme/search/bot');
    expect(await ownerOf('acme/search/bot/t:s')).toBe('acme/search/bot');
    expect(await ownerOf('umbrella/lab/bot/t:s')).toBe('umbrella/lab/bot');
    expect(await ownerOf('-/-/bot/t:s')).toBe('//bot');
  });

  test('is not guessed where several have the id: they are named in full, the newest first', async () => {
    await expect(find('t:s')).rejects.toMatchObject({
      code: 'ambiguous_op',
      message: '3 agents have an operation "t:s"; say whose as org/team/agent/t:s',
      facts: { candidates: ['-/-/bot/t:s', 'umbrella/lab/bot/t:s', 'acme/search/bot/t:s'] },
    });
  });

  test('names no more than twenty that have the id', async () => {
    for (let at = 0; at < 20; at++) {
      await world.check(await world.register(agentId(`acme/many/bot${at}`)), { traceId: 't', spanId: 's' });
    }
    const error: unknown = await find('t:s').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining('23 agents') });
    expect(error).toHaveProperty('facts.candidates.length', 20);
  });

  test('is the caller’s own where another tenant has the id as well', async () => {
    expect(await ownerOf('t:s', bound('acme'))).toBe('acme/search/bot');
    await expect(find('umbrella/lab/bot/t:s', bound('acme'))).rejects.toMatchObject({ code: 'decision_not_found' });
    await expect(find('own:s', bound('umbrella'))).rejects.toMatchObject({ code: 'decision_not_found' });
  });

  test.each(['no:such', '', 'acme', 'search/bot/t:s', 'acme/search/bot', 'acme/ads/bot/t:s', 'acme/search/bot/t:s/x'])(
    'is not found by %j',
    async (id) => {
      await expect(find(id)).rejects.toMatchObject({
        code: 'decision_not_found',
        message: `there is no decision about "${id}"`,
      });
    },
  );

  test('is the newest that is no replay', async () => {
    const rm = { traceId: 'u', spanId: 's', action: useTool('rm') };
    await world.check(bot, rm);
    const { seq } = await find('u:s');
    await world.check(bot, rm);
    expect((await find('u:s')).seq).toBe(seq);
    expect(await find('acme/search/bot/u:s')).toMatchObject({ seq, decision: 'deny', policyRule: 'p/no' });
  });

  test('is found behind very many entries that are no decisions about it', async () => {
    const first = await find('own:s');
    for (let time = 0; time < 1200; time++) await world.check(bot, { traceId: 'own', spanId: 's' });
    expect((await find('own:s')).seq).toBe(first.seq);
    expect((await find('acme/search/bot/own:s')).seq).toBe(first.seq);
  });
});
