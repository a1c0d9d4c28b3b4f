import { beforeEach, describe, expect, test } from 'vitest';
import { approve, person } from '../testkit/approvals.ts';
import { finish } from '../testkit/controls.ts';
import type { Action } from '../action/action.ts';
import { action } from '../action/action.ts';
import { longest } from '../kernel/bounds.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { checkGrant, narrowestGrant } from './grant.ts';
import { listGrants } from './list-approvals.ts';
import { revokeGrant } from '../testkit/commands.ts';

let world: TestGovernance;
let bot: TestAgent;

const asking = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell, ssh] }]\n';
const hour = 3_600_000;
const shell = (members: object = {}, agent = bot) =>
  world.check(agent, { runId: 'r1', action: useTool('shell', { cmd: 'ls' }), ...members });
const until = (ms: number) => ({ reach: 'until', until: world.clock.now() + ms }) as const;

async function grant(wish: Parameters<typeof approve>[3], members: object = {}): Promise<string> {
  const { approvalId } = await shell(members);
  const { grantId } = await approve(world, approvalId, person('alice'), wish);
  if (grantId === null) throw new Error('nothing was granted');
  return grantId;
}

beforeEach(async () => {
  world = await testGovernance();
  await world.policies(asking);
  bot = await world.register(agentId('acme/search/bot'));
});

describe('a grant for a run', () => {
  test('allows the same action again in that run, with other arguments too, and says by whose leave', async () => {
    const id = await grant({ grant: { reach: 'run' } });
    const answer = await shell({ action: useTool('shell', { cmd: 'pwd' }) });
    expect(answer).toMatchObject({ decision: 'allow', approvalId: '', policyRule: 'p/ask', opState: 'running' });
    expect(answer.reason).toBe(`allowed by the grant ${id} of alice@example.com; approval required by rule p/ask`);
    expect((await world.audit()).at(-1)).toMatchObject({ event_type: 'ActionAllowed', payload: { grant_id: id } });
    expect(await world.store.approvals.grant(id)).toMatchObject({ uses: 1, lastUsedAt: world.clock.now() });
  });

  test('reaches no other run, resource, agent, rule or kind of action', async () => {
    await grant({ grant: { reach: 'run' } });
    const other = await world.register(agentId('acme/search/other'));
    expect(await shell({ runId: 'r2' })).toMatchObject({ decision: 'pending' });
    expect(await shell({ runId: '' })).toMatchObject({ decision: 'pending' });
    expect(await shell({ action: useTool('ssh') })).toMatchObject({ decision: 'pending' });
    expect(await shell({}, other)).toMatchObject({ decision: 'pending' });
    await world.policies(asking.replace('name: ask', 'name: ask-anew'));
    expect(await shell()).toMatchObject({ decision: 'pending', policyRule: 'p/ask-anew' });
  });

  test('ends after a day at the latest', async () => {
    await grant({ grant: { reach: 'run' } });
    world.clock.advance(24 * hour - 1);
    expect(await shell()).toMatchObject({ decision: 'allow' });
    world.clock.advance(1);
    expect(await shell()).toMatchObject({ decision: 'pending' });
  });

  test('is not given where the action belongs to no run', async () => {
    const { approvalId } = await shell({ runId: '' });
    const refused = approve(world, approvalId, person('alice'), { grant: { reach: 'run' } });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_argument' });
    expect((await approve(world, approvalId, person('alice'))).grantId).toBeNull();
  });
});

describe('a grant covers', () => {
  const everything = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval }]\n';
  const decide = async (what: Action) => (await shell({ action: what })).decision;
  const file = (operation: string, path = '/srv/a') => action('file_operation', { operation, path });
  const run = (...commandArgs: string[]) => action('process_exec', { command: 'git', commandArgs });
  const call = (members: object) =>
    action('network_call', { host: 'db.example', port: 443, protocol: 'tcp', ...members });
  const tool = (members: object) => action('tool_call', { tool: 'fetch', source: 'web', ...members });
  const spawn = (...commandArgs: string[]) => action('agent_spawn', { command: 'node', commandArgs });
  const ask = (members: object) => action('llm_call', { model: 'm', promptTokens: 1, ...members });

  test.each<[string, Action, Action[], Action[]]>([
    ['the same operation of a file', file('read'), [], [file('delete'), file('READ'), file('read', '/srv/b')]],
    ['a command with its arguments', run('status'), [], [run(), run('push'), run('status', '-s'), run('status -s')]],
    ['an agent with the command that starts it', spawn('a.js'), [], [spawn('b.js'), spawn(), action('agent_spawn')]],
    [
      'a host with port and protocol',
      call({}),
      [],
      [call({ port: 22 }), call({ protocol: 'udp' }), call({ host: 'x' })],
    ],
    [
      'a tool of the same source and place, whatever its arguments',
      tool({ url: 'https://a.example/1' }),
      [tool({ url: 'https://A.example/2', json: '{"x":1}' })],
      [tool({ url: 'https://b.example/1' }), tool({}), tool({ url: 'https://a.example/1', source: 'other' })],
    ],
    [
      'a model, however much it is asked',
      ask({}),
      [ask({ promptTokens: 9, maxOutputTokens: 9 })],
      [ask({ model: 'n' })],
    ],
  ])('%s', async (_, given, covered, others) => {
    await world.policies(everything);
    await grant({ grant: { reach: 'run' } }, { action: given });
    for (const one of [given, ...covered]) expect([one, await decide(one)]).toEqual([one, 'allow']);
    for (const one of others) expect([one, await decide(one)]).toEqual([one, 'pending']);
  });

  test('the rules that asked when it was given, all or fewer of them, and no others', async () => {
    const also = (name: string) =>
      `---\nname: ${name}\nrules: [{ name: also, effect: require_approval, tools: [shell] }]\n`;
    await world.policies(asking + also('a'));
    await grant({ grant: { reach: 'run' } });
    expect(await shell()).toMatchObject({ decision: 'allow' });
    await world.policies(asking);
    expect(await shell()).toMatchObject({ decision: 'allow' });
    await world.policies(asking + also('a') + also('b'));
    expect(await shell()).toMatchObject({ decision: 'pending' });
  });

  test('nothing where a rule has come to allow no grants, or to want more people', async () => {
    const wanting = (terms: string) => asking.replace('tools: [shell, ssh]', `tools: [shell], approvals: ${terms}`);
    await grant({ grant: { reach: 'run' } });
    await world.policies(wanting('{ grants: false }'));
    expect(await shell()).toMatchObject({ decision: 'pending' });
    await world.policies(wanting('{ count: 2 }'));
    expect(await shell()).toMatchObject({ decision: 'pending' });
    await world.policies(asking);
    expect(await shell()).toMatchObject({ decision: 'allow' });
  });

  test('nothing where more rules ask than are remembered', async () => {
    const rules = Array.from({ length: 65 }, (_, at) => `{ name: r${at}, effect: require_approval }`);
    await world.policies(`name: p\nrules: [${rules.join(', ')}]\n`);
    const { approvalId } = await shell();
    const refused = approve(world, approvalId, person('alice'), { grant: { reach: 'run' } });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

test('a grant that does not say what it covers is ended at the next start, and the log says so', async () => {
  const id = await grant({ grant: until(hour) });
  const given = await world.store.approvals.grant(id);
  if (given === undefined) throw new Error('there is no such grant');
  const older = { ...given, coverDigest: '', rules: [], approvers: 0 };
  await world.store.commit({ entries: [], changes: [{ kind: 'grant_saved', grant: older }] });
  world = await world.crash();
  expect(await shell()).toMatchObject({ decision: 'pending' });
  expect(await world.store.approvals.grant(id)).toMatchObject({ revokedAt: world.clock.now() });
  const entry = (await world.audit()).find(({ event_type: type }) => type === 'GrantRevoked');
  expect(entry).toMatchObject({ actor: { kind: 'system' }, payload: { grant_id: id } });
  expect(entry?.reason).toContain('older version');
});

describe('a grant until a time', () => {
  test('allows the action in every run until then, and outlives a restart', async () => {
    const id = await grant({ grant: until(hour), reason: 'deploying' });
    world = await world.crash();
    expect(await shell({ runId: '' })).toMatchObject({ decision: 'allow' });
    world.clock.advance(hour - 1);
    expect(await shell({ runId: 'r9' })).toMatchObject({ decision: 'allow' });
    world = await world.crash();
    expect(await world.store.approvals.grant(id)).toMatchObject({ uses: 2, reason: 'deploying', reach: 'until' });
    world.clock.advance(1);
    expect(await shell({ runId: 'r9' })).toMatchObject({ decision: 'pending' });
  });

  test('does not come back with a restart once it has expired', async () => {
    const id = await grant({ grant: until(hour) });
    world.clock.advance(hour - 1);
    world = await world.crash();
    expect(world.gov.approvals.findGrant(id)?.id).toBe(id);
    world.clock.advance(1);
    world = await world.crash();
    expect(world.gov.approvals.findGrant(id)).toBeUndefined();
  });

  test('is given where the action belongs to no run, and is for none', async () => {
    for (const runId of ['', 'r1']) {
      const id = await grant(
        { grant: until(hour) },
        { runId, action: useTool('ssh', { runId }), traceId: `t${runId}`, spanId: 's' },
      );
      expect(await world.store.approvals.grant(id)).toMatchObject({ runId: null, reach: 'until' });
      await finish(world, revokeGrant(world.gov, person('bob'), id, ''));
    }
  });

  test('lies in the future, at most 30 days ahead', async () => {
    const { approvalId } = await shell();
    for (const ms of [0, -1, 30 * 24 * hour + 1]) {
      const refused = approve(world, approvalId, person('alice'), { grant: until(ms) });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    expect((await approve(world, approvalId, person('alice'), { grant: until(30 * 24 * hour) })).state).toBe(
      'approved',
    );
  });
});

describe('no grant is given along', () => {
  test.each<[string, object, string]>([
    ['with a charge that passes a cap', { cause: 'budget' }, 'passes a cap'],
    ['where an older version has asked', { coverDigest: '' }, 'older version'],
    ['where a rule allows none', { isGrantable: false }, 'no standing grants'],
  ])('%s', async (_, members, message) => {
    const { approvalId } = await shell();
    const open = world.gov.approvals.find(approvalId);
    if (open === undefined) throw new Error('there is no such approval');
    const wish = { reach: 'run' } as const;
    expect(() => checkGrant(open, wish, world.clock.now())).not.toThrow();
    expect(() => checkGrant({ ...open, ...members }, wish, world.clock.now())).toThrow(message);
  });
});

test('of several who approve, all must want a grant, and the narrowest counts', () => {
  const now = 1_000_000;
  const run = { reach: 'run' } as const;
  const at = (until: number) => ({ reach: 'until', until }) as const;
  expect(narrowestGrant([run, null], now)).toBeUndefined();
  expect(narrowestGrant([], now)).toBeUndefined();
  expect(narrowestGrant([run, run], now)).toEqual({ reach: 'run', expiresAt: now + 24 * hour });
  expect(narrowestGrant([at(5000), at(4000)], now)).toEqual({ reach: 'until', expiresAt: 4000 });
  expect(narrowestGrant([run, at(4000)], now)).toEqual({ reach: 'run', expiresAt: 4000 });
});

test('two who approve make a grant where both want one', async () => {
  await world.policies(asking.replace('tools: [shell, ssh]', 'tools: [shell], approvals: { count: 2 }'));
  const { approvalId } = await shell();
  await approve(world, approvalId, person('alice'), { grant: until(hour) });
  expect(await shell()).toMatchObject({ decision: 'pending' });
  expect((await approve(world, approvalId, person('bob'), { grant: { reach: 'run' } })).grantId).not.toBeNull();
  expect(await shell()).toMatchObject({ decision: 'allow' });
});

describe('a grant that is revoked', () => {
  test('is asked about again from then on; revoking it again changes nothing', async () => {
    const id = await grant({ grant: { reach: 'run' } });
    const revoke = (by = person('bob')) => finish(world, revokeGrant(world.gov, by, id, 'enough'));
    await expect(revoke(person('x', { orgId: 'umbrella' }))).rejects.toMatchObject({ code: 'grant_not_found' });
    await expect(revoke(person('r', { scopes: ['read'] }))).rejects.toMatchObject({ code: 'insufficient_scope' });
    const revoked = await revoke();
    expect(revoked.revokedAt).toBe(world.clock.now());
    expect(await shell()).toMatchObject({ decision: 'pending' });
    world.clock.advance(1000);
    expect(await revoke()).toEqual(revoked);
    expect((await world.audit()).filter((entry) => entry.event_type === 'GrantRevoked')).toHaveLength(1);
    world = await world.crash();
    expect(await shell()).toMatchObject({ decision: 'pending' });
  });

  test('leaves an entry: who ended it, why, how often it was used, in which request', async () => {
    const id = await grant({ grant: { reach: 'run' } });
    await shell();
    const given = await world.store.approvals.grant(id);
    await finish(world, revokeGrant(world.gov, person('bob', { requestId: 'req_1' }), id, 'enough'));
    const entry = (await world.audit()).at(-1);
    expect(entry).toMatchObject({
      event_type: 'GrantRevoked',
      actor: { id: 'bob' },
      reason: 'enough',
      policy_rule: 'p/ask',
      lineage: world.known(bot.id).lineage,
    });
    expect(entry?.payload).toEqual({ approval_id: given?.approvalId, grant_id: id, request_id: 'req_1', uses: 1 });
  });

  test('leaves an entry without a reason where none was given, also after its agent has left', async () => {
    const id = await grant({ grant: { reach: 'run' } });
    await world.deregister(bot);
    await finish(world, revokeGrant(world.gov, person('bob'), id, ''));
    const entry = (await world.audit()).at(-1);
    expect(entry).toMatchObject({ event_type: 'GrantRevoked', reason: null, lineage: { agent_id: 'bot', depth: 0 } });
    expect(entry?.payload).not.toHaveProperty('request_id');
  });

  test('must be known, and the reason not too long', async () => {
    const id = await grant({ grant: { reach: 'run' } });
    const revoke = (which: string, reason = '') => finish(world, revokeGrant(world.gov, person('bob'), which, reason));
    await expect(revoke('grt_unknown')).rejects.toMatchObject({ code: 'grant_not_found' });
    await expect(revoke(id, 'x'.repeat(longest.text + 1))).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await shell()).toMatchObject({ decision: 'allow' });
    expect((await revoke(id, 'x'.repeat(longest.text))).revokedAt).toBe(world.clock.now());
  });

  test('is listed by its state, within the tenant', async () => {
    const id = await grant({ grant: { reach: 'run' } });
    const ids = async (state: 'active' | 'expired' | 'revoked' | 'all', by = person('bob')) =>
      (await listGrants(world.gov, by, { state }, { limit: 10 })).items.map((item) => item.id);
    expect(await ids('active')).toEqual([id]);
    expect(await ids('active', person('x', { orgId: 'umbrella' }))).toEqual([]);
    await finish(world, revokeGrant(world.gov, person('bob'), id, ''));
    expect([await ids('active'), await ids('revoked'), await ids('all')]).toEqual([[], [id], [id]]);
  });
});

test('a grant does not pass a cap', async () => {
  await world.policies(`${asking}budget: { daily_limit_usd: 1 }\n`);
  await grant({ grant: { reach: 'run' } });
  expect(await shell({ estimatedCostMicros: 2_000_000 })).toMatchObject({
    decision: 'deny',
    policyRule: 'budget/global.day',
  });
});
