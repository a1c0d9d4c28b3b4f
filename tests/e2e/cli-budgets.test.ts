import { parse } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const policy = `
name: money
default: allow
budget:
  daily_limit_usd: 100
  org_monthly_limit_usd: 20
  agent_daily_limit_usd: 5
`;

interface Budgets {
  readonly items: readonly {
    readonly tier: string;
    readonly period: string;
    readonly spent_usd: string;
    readonly reserved_usd: string;
  }[];
  readonly total: number;
}

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'money.yaml': policy } });
  home = new TestHome();
  env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
  const bot = await gateway.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
  await gateway.check(bot, { traceId: 'm1', spanId: 's', estimatedCostMicros: 3_000_000 });
  await gateway.complete(bot, 'm1:s', { actualCostMicros: 2_500_000 });
  await gateway.check(bot, { traceId: 'm2', spanId: 's', estimatedCostMicros: 2_000_000 });
  const other = await gateway.register({ orgId: 'other', teamId: 'core', agentId: 'cheap' });
  await gateway.check(other, { traceId: 'm3', spanId: 's', estimatedCostMicros: 10_000 });
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(['budgets', ...args], { env });

test('budgets are shown as a tree, with what is spent, held back, allowed and used', async () => {
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, '']);
  const [titles, ...rows] = stdout.trimEnd().split('\n');
  expect(titles).toMatch(/^BUDGET +PERIOD +SPENT USD +RESERVED +LIMIT +USED +RESETS +REACHED$/);
  expect(rows.map((row) => row.split(/ {2,}(?=day|month)/)[0])).toEqual([
    ...['everybody', 'everybody'],
    ...['  acme', '  acme', '    acme/core', '    acme/core', '      acme/core/bot', '      acme/core/bot'],
    ...['  other', '  other', '    other/core', '    other/core', '      other/core/cheap', '      other/core/cheap'],
  ]);
  expect(stdout).toMatch(/^everybody +day +2\.50 +2\.01 +100\.00 +4 % +in /m);
  expect(stdout).toMatch(/^ {2}acme +month +2\.50 +2\.00 +20\.00 +22 %/m);
  expect(stdout).toMatch(/^ {6}acme\/core\/bot +day +2\.50 +2\.00 +5\.00 +90 %/m);
  expect(stdout).toMatch(/^ {4}acme\/core +day +2\.50 +2\.00 +- +- +in /m);
});

test('budgets are narrowed, and the same in every form', async () => {
  const data = await home.json<Budgets>(['budgets', '--org', 'acme', '--period', 'day', '--tier', 'agent'], { env });
  expect(data).toMatchObject({
    total: 1,
    items: [{ tier: 'agent', period: 'day', spent_usd: '2.50', reserved_usd: '2.00', limit_usd: '5.00' }],
  });
  // A tier without a cap has no forecast, which would change with every call.
  const uncapped = ['--org', 'acme', '--period', 'day', '--tier', 'team'];
  const yaml = await run(...uncapped, '-o', 'yaml');
  expect(parse(yaml.stdout)).toEqual(await home.json(['budgets', ...uncapped], { env }));
  expect((await run('--agent', 'cheap', '--tier', 'agent')).stdout).not.toContain('acme');
  const near = await home.json<Budgets>(['budgets', '--min-percent', '80'], { env });
  expect(near.items.map(({ tier, period }) => `${tier} ${period}`)).toEqual(['agent day']);
  expect((await run('--org', 'nobody')).stdout).toBe('No budgets.\n');
  const page = await run('--per-page', '1');
  expect(page.stderr).toMatch(/^1 of 14 shown\. There is more: --all, or --cursor /);
  expect((await run('--per-page', '1', '--all')).stdout.split('\n').length).toBe(16);
});

test('a tenant sees its own, and not what everybody spends', async () => {
  const { key } = await makeKey(gateway, { org_id: 'other' });
  const { code, stdout } = await home.run(['budgets'], { env: { ...env, REEVE_API_KEY: key } });
  expect(code).toBe(0);
  expect(stdout).toContain('other/core/cheap');
  expect(stdout).not.toMatch(/everybody|acme/);
});

test('the days before are bars, with the cap where there was one', async () => {
  const day = (date: string, spent: string, limit: string | null, closed = true) => ({
    starts_at: `${date}T00:00:00.000Z`,
    ends_at: `${date}T23:59:59.999Z`,
    spent_usd: spent,
    limit_usd: limit,
    closed,
  });
  const items = [
    day('2026-11-12', '0.00', null),
    day('2026-11-13', '5.00', '10.00'),
    day('2026-11-14', '10.00', '10.00'),
    day('2026-11-15', '2.50', '10.00', false),
  ];
  await using fake = await FakeServer.start(() => ({ json: { items } }));
  const at = { env: { REEVE_API_URL: fake.url } };
  const { code, stdout } = await home.run(['budgets', '--history', '--org', 'acme', '--count', '4'], at);
  expect(code).toBe(0);
  expect(fake.seen[0]?.path).toBe('/api/v1/budgets/history?org_id=acme&period=day&count=4');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['2026-11-12', '2026-11-13', '2026-11-14', '2026-11-15']);
  expect(lines.map((line) => line.split('█').length - 1)).toEqual([0, 20, 40, 10]);
  expect(lines[1]).toMatch(/│ +5\.00 of 10\.00$/);
  expect(lines[3]).toMatch(/2\.50 of 10\.00 so far$/);
  expect(await home.json(['budgets', '--history'], at)).toEqual({ items });
});

test('the real history of a gateway has today in it', async () => {
  const { code, stdout } = await run('--history', '--org', 'acme');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d +█+ +2\.50 so far\n$/);
  expect((await run('--history', '--period', 'month', '--org', 'acme')).stdout).toMatch(
    /^\d{4}-\d\d +█+.*2\.50 of 20\.00/,
  );
});

test('what cannot be is a mistake', async () => {
  expect((await run('--tier', 'house')).stderr).toMatch(/--tier must be one of global, org, team, agent/);
  expect((await run('--history', '--count', '0')).stderr).toMatch(/--count must be a whole number from 1 to 400/);
  expect((await run('--period', 'year')).code).toBe(2);
});

test('what was settled is corrected, and shown as it is then', async () => {
  const args = ['correct', 'acme/core/bot', '--amount', '-0.50', '--reason', 'reported twice'];
  const { code, stdout, stderr } = await run(...args);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Corrected by -0\.50 USD\. Now:\nBUDGET +PERIOD/);
  expect(stdout).toMatch(/^ {6}acme\/core\/bot +day +2\.00 /m);
  const data = await home.json<Budgets>(['budgets', 'correct', 'acme', '--amount', '0.5', '--reason', 'x'], { env });
  expect(data.items.map(({ tier, spent_usd: spent }) => [tier, spent])).toEqual([
    ['global', '2.50'],
    ['global', '2.50'],
    ['org', '2.50'],
    ['org', '2.50'],
  ]);
  await run('correct', 'acme/core/bot', '--amount', '0.5', '--reason', 'as it was');
  await run('correct', 'acme', '--amount', '-0.5', '--reason', 'as it was');
});

test('a correction that cannot be is refused, with what would be right', async () => {
  const refused = await run('correct', 'acme/core/bot', '--amount', '-100', '--reason', 'x');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('must take off at most the 2.50 USD that were settled this month');
  const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
  const bound = await home.run(['budgets', 'correct', 'acme', '--amount', '-1', '--reason', 'x'], {
    env: { ...env, REEVE_API_KEY: key },
  });
  expect(bound.code).toBe(1);
  for (const args of [
    ['acme'],
    ['acme', '--amount', '1'],
    ['acme', '--reason', 'x'],
    ['a/b/c/d', '--amount', '1', '--reason', 'x'],
  ]) {
    expect((await run('correct', ...args)).code).toBe(2);
  }
  const help = await run('correct', '--help');
  expect(help.stdout).toContain('Usage: reeve budgets correct WHOSE [OPTIONS]');
  expect((await run('--help')).stdout).toMatch(/^Commands:\n {2}correct {2}Correct what was settled/m);
});
