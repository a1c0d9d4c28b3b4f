import { describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { agentId, operator, registration } from '../testkit/requests.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import type { RegisterRequest } from './register-agent.ts';
import { registerAgent } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');
const ownToken = 'my-own-token-of-at-least-32-characters';

describe('registering', () => {
  test('a new agent issues a token of 256 bits and says that it is new', async () => {
    const test = await testGovernance();
    const { token, created } = await test.settle(registerAgent(test.gov, operator, registration(bot)));
    expect(created).toBe(true);
    expect(token).toMatch(/^rva_[A-Za-z0-9_-]{43}$/);
    expect(test.known(bot).record).toMatchObject({ id: bot, tokenHash: sha256(token), suspension: null });
  });

  test('is on record, with one event, and not with the token', async () => {
    const test = await testGovernance();
    const { token } = await test.register(bot, { name: 'Bot', framework: 'langgraph', version: '1' });
    const audit = await test.audit();
    expect(audit).toMatchObject([
      {
        event_type: 'AgentRegistered',
        actor: operator.actor,
        lineage: { org_id: 'acme', team_id: 'search', agent_id: 'bot' },
        payload: { created: true, name: 'Bot', framework: 'langgraph', version: '1', parent: null },
      },
    ]);
    expect(test.events).toMatchObject([{ type: 'agent', agent: bot, change: 'registered' }]);
    const stored = JSON.stringify([audit, await test.store.load()]);
    expect(stored).not.toContain(token);
    expect(stored).toContain(sha256(token));
  });

  test('the same triple again replaces the token, and the old one stops at once', async () => {
    const test = await testGovernance();
    const first = await test.register(bot);
    const again = await test.settle(registerAgent(test.gov, operator, registration(bot)));
    expect(again.created).toBe(false);
    expect(again.token).not.toBe(first.token);
    expect(test.gov.directory.ownerOf(sha256(first.token))).toBeUndefined();
    expect(test.gov.directory.ownerOf(sha256(again.token))).toBe(test.known(bot));
    expect(test.gov.directory.size).toBe(1);
  });

  test('an agent that is known may be refused, or keep all but its token', async () => {
    const test = await testGovernance();
    const first = await test.register(bot, { name: 'Bot', framework: 'x', version: '1', metadata: { a: '1' } });
    const before = test.known(bot).record;
    const again = registration(bot, { name: '', framework: 'y' });
    await expect(registerAgent(test.gov, operator, { ...again, ifRegistered: 'refuse' })).rejects.toMatchObject({
      code: 'agent_exists',
    });
    expect(test.known(bot).record).toBe(before);
    const kept = await test.settle(registerAgent(test.gov, operator, { ...again, ifRegistered: 'keep' }));
    expect(kept).toMatchObject({ created: false });
    expect(kept.token).not.toBe(first.token);
    expect(test.known(bot).record).toMatchObject({
      tokenHash: sha256(kept.token),
      name: 'Bot',
      framework: 'y',
      version: '1',
      metadata: { a: '1' },
    });
  });

  test('again keeps the operations in flight', async () => {
    const test = await testGovernance();
    await test.policies('default: allow');
    const first = await test.register(bot);
    await test.check(first, { traceId: 't', spanId: 's' });
    const again = await test.register(bot);
    expect(await test.complete(again, 't:s')).toMatchObject({ state: 'completing' });
  });

  test('takes a token of its own', async () => {
    const test = await testGovernance();
    const { token } = await test.register(bot, { token: ownToken });
    expect(token).toBe(ownToken);
    expect((await test.settle(registerAgent(test.gov, operator, registration(bot, { token: ownToken })))).created).toBe(
      false,
    );
  });

  test('refuses a token that another agent has', async () => {
    const test = await testGovernance();
    await test.register(bot, { token: ownToken });
    const other = registration(agentId('umbrella/search/bot'), { token: ownToken });
    await expect(registerAgent(test.gov, operator, other)).rejects.toMatchObject({ code: 'token_in_use' });
    expect(test.gov.directory.size).toBe(1);
  });

  test('takes a token that another agent has had', async () => {
    const test = await testGovernance();
    await test.register(bot, { token: ownToken });
    await test.register(bot);
    await test.register(agentId('acme/search/other'), { token: ownToken });
    expect(test.gov.directory.ownerOf(sha256(ownToken))?.record.id.agentId).toBe('other');
  });

  test('survives a restart', async () => {
    const test = await testGovernance();
    await test.policies('default: allow');
    const agent = await test.register(bot, { name: 'Bot', metadata: { a: '1' }, toolNames: ['x'] });
    const { record } = test.known(bot);
    const restarted = await test.crash();
    expect(restarted.known(bot).record).toEqual(record);
    expect(await restarted.check(agent)).toMatchObject({ decision: 'allow' });
  });

  test('that cannot be made durable leaves everything as it was', async () => {
    const test = await testGovernance();
    test.failure = new Error('the disk is full');
    await expect(test.register(bot)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(test.gov.directory.size).toBe(0);
    expect(test.events).toEqual([]);
    test.failure = undefined;
    const first = await test.register(bot);
    const { record } = test.known(bot);
    test.failure = new Error('the disk is full');
    await expect(test.register(bot)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(test.known(bot).record).toEqual(record);
    expect(test.gov.directory.ownerOf(sha256(first.token))).toBe(test.known(bot));
  });
});

describe('a parent', () => {
  const boss = agentId('acme/search/boss');

  test('may be any registered agent of the same org', async () => {
    const test = await testGovernance();
    await test.register(boss);
    await test.register(agentId('acme/other/bot'), { parent: boss });
    expect(test.known(agentId('acme/other/bot')).lineage).toMatchObject({ parent_agent_id: 'boss', depth: 1 });
  });

  test.each([
    ['that nobody knows', boss],
    ['of another org', agentId('umbrella/search/boss')],
    ['without an org', agentId('//boss')],
  ])('%s is refused', async (_, parent) => {
    const test = await testGovernance();
    await test.register(agentId('umbrella/search/boss'));
    await test.register(agentId('//boss'));
    await expect(test.register(bot, { parent })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'parent_agent_id: must be an agent registered in the same org',
    });
  });

  test('that has left is refused', async () => {
    const test = await testGovernance();
    await test.deregister(await test.register(boss));
    await expect(test.register(bot, { parent: boss })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('of empty ids is none', async () => {
    const test = await testGovernance();
    await test.register(bot, { parent: agentId('//') });
    expect(test.known(bot).record.parent).toBeNull();
  });
});

const refused: readonly (readonly [string, Partial<RegisterRequest>, string])[] = [
  ['no agent', { agentId: undefined }, 'agent_id.agent_id: must not be empty'],
  [
    'a short token',
    { token: 'x'.repeat(31) },
    'credential_token: must be at least 32 characters, or empty to be issued one',
  ],
  ['a long token', { token: 'x'.repeat(513) }, 'credential_token: must be at most 512 characters'],
  ['a long name', { name: 'x'.repeat(513) }, 'name: must be at most 512 characters'],
  ['a long framework', { framework: 'x'.repeat(513) }, 'framework: must be at most 512 characters'],
  ['a long version', { version: 'x'.repeat(129) }, 'version: must be at most 128 characters'],
  ['too many tools', { toolNames: Array.from({ length: 1001 }, () => 't') }, 'tool_names: must be at most 1000'],
  ['a long tool', { toolNames: ['x'.repeat(513)] }, 'tool_names: must be at most 512 characters'],
  [
    'too much metadata',
    { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`m${i}`, ''])) },
    'metadata: must have at most 64 members',
  ],
  ['a long metadata name', { metadata: { ['x'.repeat(129)]: '' } }, 'metadata: must be at most 128 characters'],
  ['long metadata', { metadata: { note: 'x'.repeat(1025) } }, 'metadata.note: must be at most 1024 characters'],
  [
    'a bad parent',
    { parent: { orgId: 'acme', teamId: '', agentId: '' } },
    'parent_agent_id.agent_id: must not be empty',
  ],
];

test.each(refused)('%s is refused, with the field and what would be right', async (_, members, message) => {
  const test = await testGovernance();
  await expect(registerAgent(test.gov, operator, { ...registration(bot), ...members })).rejects.toMatchObject({
    code: 'invalid_argument',
    message,
  });
  expect(test.gov.directory.size).toBe(0);
});

describe('the credential', () => {
  const bound: Principal = { ...operator, scopes: ['write'], orgId: 'acme' };

  test('needs the scope "write"', async () => {
    const test = await testGovernance();
    const reader: Principal = { ...operator, scopes: ['read'] };
    await expect(registerAgent(test.gov, reader, registration(bot))).rejects.toMatchObject({
      code: 'insufficient_scope',
      facts: { required_scope: 'write' },
    });
  });

  test.each(['umbrella/search/bot', '//bot', '/search/bot'])('bound to another org does not reach %s', async (id) => {
    const test = await testGovernance();
    await expect(registerAgent(test.gov, bound, registration(agentId(id)))).rejects.toMatchObject({
      code: 'outside_tenant',
    });
    expect(test.gov.directory.size).toBe(0);
  });

  test('bound to a team reaches that team only', async () => {
    const test = await testGovernance();
    const team: Principal = { ...bound, teamId: 'search' };
    await test.register(bot, {}, team);
    await expect(registerAgent(test.gov, team, registration(agentId('acme/other/bot')))).rejects.toMatchObject({
      code: 'outside_tenant',
    });
  });
});
