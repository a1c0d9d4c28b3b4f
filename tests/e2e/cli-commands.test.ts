import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import type { CreatedKey } from '../harness/credentials.ts';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = 'name: test\ndefault: allow\nrules:\n  - name: no-delete\n    effect: deny\n    tools: [delete]\n';

let gateway: TestGateway;
let bot: Registered;
let home: TestHome;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'test.yaml': policy } });
  bot = await gateway.register({ agentId: 'bot' }, { name: 'The bot', framework: 'plain' });
  await gateway.register({ agentId: 'helper' }, { parentAgentId: bot.id });
  await gateway.register({ orgId: 'other', teamId: '', agentId: 'lonely' });
  await gateway.check(bot, { traceId: 't1', spanId: 's1' });
  await gateway.check(bot, { traceId: 't2', spanId: 's2', context: toolCall('delete') });
  home = new TestHome();
  env = { REEVE_API_URL: gateway.http };
  await home.run(['login', '--api-key', bootstrapKey], { env });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(args, { env });
const json = <Data>(...args: string[]) => home.json<Data>(args, { env });

/** Runs a command as table, YAML and JSON. Both data formats must agree. */
async function sameEverywhere(...args: string[]): Promise<{ table: string; data: unknown }> {
  const table = await run(...args);
  const yaml = await run(...args, '--output', 'yaml');
  const data = await json(...args);
  expect([table.code, yaml.code, table.stderr]).toEqual([0, 0, '']);
  const still = (value: unknown) => JSON.stringify(value).replaceAll(/"(last_used_at|last_seen_at)":"[^"]*"/g, '');
  expect(still(parse(yaml.stdout))).toBe(still(data));
  return { table: table.stdout, data };
}

describe('keys', () => {
  test('are listed in every form', async () => {
    const { table, data } = await sameEverywhere('keys', 'list');
    expect(data).toMatchObject({ items: [{ id: 'abcdefghijkl', label: 'bootstrap' }], next_cursor: null, total: 1 });
    expect(table).toMatch(/^abcdefghijkl +bootstrap +read,write,admin .*in force/m);
  });

  test('are made, used, rotated and revoked', async () => {
    const made = await run('keys', 'create', 'nightly export', '--scope', 'read', '--org', 'acme', '--ttl', '90d');
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^Key +rvk_/);
    expect(made.stderr).toContain('not shown again');
    const key = /rvk_\S+/.exec(made.stdout)?.[0] ?? '';
    const me = await gateway.api.get<{ scopes: string[]; org_id: string; key: { label: string } }>(
      '/api/v1/auth/me',
      key,
    );
    expect(me.body).toMatchObject({ scopes: ['read'], org_id: 'acme', key: { label: 'nightly export' } });
    const id = key.slice(4, 16);

    const rotated = await json<CreatedKey>('keys', 'rotate', id);
    expect(rotated).toMatchObject({ label: 'nightly export', scopes: ['read'], org_id: 'acme' });
    expect((await gateway.api.get('/api/v1/auth/me', key)).status).toBe(401);
    expect((await gateway.api.get('/api/v1/auth/me', rotated.key)).status).toBe(200);

    const revoked = await run('keys', 'revoke', rotated.id);
    expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringContaining(`Revoked ${rotated.id}`)]);
    expect((await gateway.api.get('/api/v1/auth/me', rotated.key)).status).toBe(401);
    expect((await json<{ revoked_at: string }>('keys', 'revoke', rotated.id)).revoked_at).toBeTruthy();
    const again = await run('keys', 'rotate', rotated.id);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^error: .*revoked/)]);
    const unknown = await run('keys', 'revoke', 'zzzzzzzzzzzz');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('zzzzzzzzzzzz')]);
    const listed = await json<{ items: { id: string }[] }>('keys', 'list', '--org', 'acme');
    expect(listed.items.map((one) => one.id).toSorted()).toEqual([id, rotated.id].toSorted());
  });

  test('have the scopes that are asked for, and read alone without', async () => {
    expect(await json('keys', 'create', 'a')).toMatchObject({ scopes: ['read'], expires_at: null });
    expect(await json('keys', 'create', '--label', 'b', '--scope', 'read', '--scope', 'write')).toMatchObject({
      scopes: ['read', 'write'],
    });
    expect(await json('keys', 'create', 'c', '--scope', 'read,admin')).toMatchObject({ scopes: ['read', 'admin'] });
  });

  test('need the scope admin, and the gateway’s message says so', async () => {
    const { key } = await makeKey(gateway, { scopes: ['read'] });
    using other = new TestHome();
    const { code, stderr } = await other.run(['keys', 'list', '--api-key', key], { env });
    const said = await gateway.api.get<{ detail: string }>('/api/v1/iam/api-keys', key);
    expect([code, stderr]).toEqual([1, `error: ${said.body.detail}\n`]);
  });

  test('show what the gateway finds wrong with the input, place by place', async () => {
    const { code, stderr } = await run('keys', 'create', 'x', '--org', 'not an id!');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: \/org_id: must be/);
  });
});

describe('agents', () => {
  test('are listed in every form', async () => {
    const { table, data } = await sameEverywhere('agents', 'list');
    expect(data).toMatchObject({ total: 3 });
    expect(table).toMatch(/^acme\/core\/bot +The bot +active +1 +plain/m);
    expect(table).toMatch(/^other\/-\/lonely/m);
    expect(await json('agents', 'list', '--org', 'other')).toMatchObject({ total: 1, items: [{ agent_id: 'lonely' }] });
  });

  test('are suspended and resumed, with a reason', async () => {
    const { code, stdout } = await run('agents', 'suspend', 'acme/core/helper', '--reason', 'runs wild');
    expect([code, stdout]).toEqual([0, 'Suspended acme/core/helper; 0 operations in flight.\n']);
    expect(await json('agents', 'list', '--status', 'suspended')).toMatchObject({
      items: [{ agent_id: 'helper', suspended_reason: 'runs wild' }],
    });
    expect(await json('agents', 'resume', 'acme/core/helper')).toMatchObject({ status: 'active' });
    expect(await json('agents', 'suspend', 'other/-/lonely')).toMatchObject({
      agent_id: 'lonely',
      status: 'suspended',
    });
    await run('agents', 'resume', 'other//lonely');
    expect(await json('agents', 'list', '--status', 'suspended')).toMatchObject({ total: 0 });
    const unknown = await run('agents', 'suspend', 'acme/core/nobody');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/^error: .*nobody/)]);
  });
});

test('topology shows children below their parents, in every form', async () => {
  const { table, data } = await sameEverywhere('topology');
  expect(data).toMatchObject({ totals: { orgs: 2, agents: 3 } });
  expect(table).toMatch(/^2 orgs, 2 teams, 3 agents, 1 operation in flight$/m);
  expect(table).toMatch(/^acme\/core\/bot .*\n└ acme\/core\/helper/m);
  expect(await json('topology', '--org', 'other')).toMatchObject({ totals: { orgs: 1, agents: 1 } });
});

describe('logs', () => {
  test('are shown newest first, in every form', async () => {
    const { table, data } = await sameEverywhere('logs', '--agent', 'bot', '--event-type', 'ActionDenied');
    expect(data).toMatchObject({
      items: [{ event_type: 'ActionDenied', op_id: 't2:s2', decision: 'deny' }],
      next_cursor: null,
    });
    expect(table).toMatch(/ActionDenied +acme\/core\/bot +deny +t2:s2 +test\/no-delete/);
    const all = await json<{ items: { seq: number }[] }>('logs');
    expect(all.items.map(({ seq }) => seq)).toEqual(all.items.map(({ seq }) => seq).toSorted((a, b) => b - a));
  });

  test.each([
    [['--org', 'other'], ['AgentRegistered']],
    [['--decision', 'allow'], ['ActionAllowed']],
    [['--op', 't2:s2'], ['ActionDenied']],
    [['--team', 'core', '--decision', 'deny'], ['ActionDenied']],
    [['--search', 'NO-DELETE', '--decision', 'deny'], ['ActionDenied']],
    [['--from', '1h', '--decision', 'deny'], ['ActionDenied']],
    [['--to', '1h'], []],
    [['--from', '2020-01-01T00:00:00+02:00', '--to', '2020-01-02'], []],
  ])('are narrowed by %j', async (filter, expected) => {
    const { items } = await json<{ items: { event_type: string }[] }>('logs', ...filter);
    const types = items.map(({ event_type: type }) => type).filter((type) => !/^Agent(Suspended|Resumed)$/.test(type));
    expect(types).toEqual(expected);
  });

  test('come in pages, or all of them', async () => {
    const first = await json<{ items: { seq: number }[]; next_cursor: string }>('logs', '--per-page', '2');
    const second = await json<{ items: { seq: number }[] }>('logs', '--per-page', '2', '--cursor', first.next_cursor);
    expect(second.items[0]?.seq).toBe((first.items[1]?.seq ?? 0) - 1);
    const all = await json<{ items: { seq: number }[] }>('logs', '--all', '--per-page', '3');
    expect(all.items.at(-1)?.seq).toBe(1);
    expect(all).toMatchObject({ next_cursor: null });
  });
});
