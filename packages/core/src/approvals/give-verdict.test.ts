import { beforeEach, describe, expect, test } from 'vitest';
import type { Maker } from '../access/api-key.ts';
import type { Principal } from '../access/principal.ts';
import { longest } from '../kernel/bounds.ts';
import { approve, expire, person, reject } from '../testkit/approvals.ts';
import { listen } from '../testkit/controls.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

let world: TestGovernance;
let bot: TestAgent;

const asking =
  'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell], approvals: { count: 2 } }]\n';
const ask = async () => (await world.check(bot, { traceId: 't', spanId: 's', action: useTool('shell') })).approvalId;
const twice = { code: 'already_decided', facts: { state: 'open' } };

beforeEach(async () => {
  world = await testGovernance();
  await world.policies(asking);
  bot = await world.register(agentId('acme/search/bot'));
});

/** Adds a key that somebody made, perhaps by rotation, and returns its holder. */
function keyOf(id: string, madeBy: Maker, rotatedFrom: string | null = null): Principal {
  const bare = { hash: id, label: id, orgId: null, teamId: null, createdAt: 0, expiresAt: null, lastUsedAt: null };
  world.gov.keys.put({ ...bare, id, scopes: ['write'], revokedAt: null, madeBy, rotatedFrom });
  return person(id, { actor: { id, kind: 'api_key', label: id } });
}

const account = (id: string): Maker => ({ kind: 'account', id });

describe('two verdicts come from two people', () => {
  test('not where one holds a key that the other has rotated', async () => {
    const anns = keyOf('anns', account('ann'));
    const rotated = keyOf('rotated', account('bob'), 'anns');
    const id = await ask();
    await approve(world, id, rotated);
    for (const by of [person('bob'), person('ann'), anns]) {
      await expect(approve(world, id, by)).rejects.toMatchObject(twice);
    }
    expect((await approve(world, id, person('eve'))).state).toBe('approved');
  });

  test('also where the key of the first is forgotten meanwhile: who gave a verdict is recorded with it', async () => {
    const id = await ask();
    await approve(world, id, keyOf('anns', account('ann')));
    world.gov.keys.remove('anns');
    await expect(approve(world, id, person('ann'))).rejects.toMatchObject(twice);
    expect((await approve(world, id, person('bob'))).state).toBe('approved');
  });

  test('also where an older version has recorded only the credential of the first', async () => {
    const anns = keyOf('anns', account('ann'));
    const id = await ask();
    const open = await approve(world, id, anns);
    const verdicts = open.verdicts.map((verdict) => ({ ...verdict, people: [] }));
    world.gov.approvals.place({ ...open, verdicts });
    for (const by of [anns, person('ann')]) await expect(approve(world, id, by)).rejects.toMatchObject(twice);
    expect((await approve(world, id, person('bob'))).state).toBe('approved');
  });
});

test('a verdict with a reason that is too long is refused', async () => {
  const id = await ask();
  const tooLong = 'x'.repeat(longest.text + 1);
  await expect(reject(world, id, person('bob'), tooLong)).rejects.toMatchObject({ code: 'invalid_argument' });
  expect((await reject(world, id, person('bob'), 'x'.repeat(longest.text))).state).toBe('rejected');
});

test('a verdict that comes too late has the agent told that its operation is over', async () => {
  const id = await ask();
  const listener = await listen(world, bot);
  world.clock.advance(300_000);
  await expect(approve(world, id)).rejects.toMatchObject({ facts: { state: 'expired' } });
  expect(listener.signals()).toEqual(['1 terminate']);
});

describe('an operation that is not known any more', () => {
  test('is not decided on: its approval counts as cancelled', async () => {
    const id = await ask();
    world.gov.ops.forget(world.gov.ops.get(world.known(bot.id), 't:s'));
    for (const late of [approve(world, id), reject(world, id)]) {
      await expect(late).rejects.toMatchObject({ code: 'already_decided', facts: { state: 'cancelled' } });
    }
  });

  test('has its approval cancelled when its time is over', async () => {
    const id = await ask();
    world.gov.ops.forget(world.gov.ops.get(world.known(bot.id), 't:s'));
    world.clock.advance(300_000);
    expect(await expire(world)).toBe(1);
    expect((await world.store.approvals.approval(id))?.state).toBe('cancelled');
    expect((await world.audit()).at(-1)).toMatchObject({
      event_type: 'ApprovalCancelled',
      actor: { kind: 'system' },
      reason: 'its operation is not known any more',
    });
  });
});

test('an approval of an agent that is not known is cancelled when its time is over', async () => {
  const open = world.gov.approvals.find(await ask());
  if (open === undefined) throw new Error('there is no such approval');
  world.gov.approvals.place({ ...open, id: 'apr_stray', agent: agentId('acme/search/gone') });
  world.clock.advance(300_000);
  expect(await expire(world)).toBe(2);
  expect((await world.audit()).at(-1)).toMatchObject({
    event_type: 'ApprovalCancelled',
    lineage: { agent_id: 'gone', team_id: 'search', org_id: 'acme' },
    payload: { approval_id: 'apr_stray' },
  });
});

test('of many approvals that are over at once, no more are ended than asked for', async () => {
  for (const traceId of ['a', 'b', 'c']) {
    await world.check(bot, { traceId, spanId: 's', action: useTool('shell') });
  }
  world.clock.advance(300_000);
  expect([await expire(world, 2), await expire(world, 2), await expire(world, 2)]).toEqual([2, 1, 0]);
});

describe('a charge past a cap', () => {
  const capped = 'name: p\ndefault: allow\nbudget: { org_daily_limit_usd: 1, action_on_exceed: require_approval }\n';

  test('is approved by nobody within the org that the cap is for, and rejected by anybody', async () => {
    await world.policies(capped);
    const spend = () => world.check(bot, { estimatedCostMicros: 2_000_000, action: useTool('search') });
    const within = person('carol', { orgId: 'acme', scopes: ['admin'] });
    const first = await spend();
    await expect(approve(world, first.approvalId, within)).rejects.toMatchObject({ code: 'imposed_by_wider' });
    expect((await approve(world, first.approvalId, person('dora'))).state).toBe('approved');
    expect((await reject(world, (await spend()).approvalId, within)).state).toBe('rejected');
  });
});
