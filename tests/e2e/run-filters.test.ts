import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { delegate } from '../harness/delegate.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { durableStores, sqliteStore } from '../harness/stores.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

type Runs = RouteOutput<Routes['listRuns']>;

let issuer: TokenIssuer;
let folder: string;
let file: string;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-run-filters-'));
  file = join(folder, 'subjects.yaml');
  writeFileSync(file, issuer.subjects);
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const policies = { 'p.yaml': 'name: p\ndefault: allow\nrules: []\n' };

async function runsOf(gateway: TestGateway, query: string, bearer = bootstrapKey): Promise<readonly string[]> {
  const { status, body } = await gateway.api.get<Runs>(`/api/v1/runs${query}`, bearer);
  expect(status).toBe(200);
  expect(body.total).toBe(body.items.length);
  return body.items.map(({ org_id: org, run_id: id, agent_id: agent }) => `${org}:${id || `@${agent}`}`).toSorted();
}

async function act(gateway: TestGateway, agent: Registered, runId: string, email?: string): Promise<void> {
  const members = email === undefined ? {} : { subjectToken: await issuer.sign({ sub: `sub of ${email}`, email }) };
  const { opId } = await gateway.check(agent, { runId, ...members });
  await gateway.complete(agent, opId);
}

describe.each(durableStores)('runs on $name', ({ open }) => {
  test('are found by the user for whom agents acted, after a restart and however many users a run has', async () => {
    await using store = await open();
    const options = { policies, env: { SVC_SUBJECTS: file } };
    let gateway = await store.start(options);
    const bot = await gateway.register({ agentId: 'bot' });
    const other = await gateway.register({ orgId: 'umbrella', agentId: 'bot' });
    const boss = await gateway.register({ agentId: 'boss' });
    const child = await delegate(gateway, boss, 'child');
    await act(gateway, bot, 'both', 'Ann@acme.com');
    await act(gateway, bot, 'both', 'bob@acme.com');
    await act(gateway, bot, 'alone');
    await act(gateway, other, 'there', 'ann@acme.com');
    await act(gateway, child, '', 'ann@acme.com');
    for (let at = 0; at < 20; at++) await act(gateway, bot, '', `user-${at}@acme.com`);
    const { key } = await makeKey(gateway, { org_id: 'acme', scopes: ['read'] });
    const expectAll = async () => {
      expect(await runsOf(gateway, '?user=ann@ACME.com')).toEqual(['acme:@boss', 'acme:both', 'umbrella:there']);
      expect(await runsOf(gateway, '?user=ann@acme.com', key)).toEqual(['acme:@boss', 'acme:both']);
      expect(await runsOf(gateway, '?user=ann@acme.com&org_id=umbrella', key)).toEqual([]);
      expect(await runsOf(gateway, '?user=sub%20of%20bob@acme.com')).toEqual(['acme:both']);
      expect(await runsOf(gateway, '?user=SUB%20of%20bob@acme.com')).toEqual([]);
      for (const at of [0, 19]) expect(await runsOf(gateway, `?user=user-${at}@acme.com`)).toEqual(['acme:@bot']);
      expect(await runsOf(gateway, '?user=nobody@acme.com')).toEqual([]);
      expect(await runsOf(gateway, '?user=ann@acme.com&agent_id=bot&state=ended&team_id=core')).toHaveLength(2);
    };
    await expectAll();
    await gateway.kill();
    gateway = await store.start(options);
    await expectAll();
  }, 120_000);

  test('of a user come page by page, each once, while others are added', async () => {
    await using store = await open();
    const gateway = await store.start({ policies, env: { SVC_SUBJECTS: file } });
    const bot = await gateway.register({ agentId: 'bot' });
    for (const runId of ['one', 'two', 'three']) await act(gateway, bot, runId, 'ann@acme.com');
    const page = async (cursor = '') => {
      const path = `/api/v1/runs?user=ann@acme.com&per_page=1${cursor && `&cursor=${cursor}`}`;
      return (await gateway.api.get<Runs>(path, bootstrapKey)).body;
    };
    const found: string[] = [];
    for (let next = await page(); ; next = await page(next.next_cursor)) {
      found.push(...next.items.map(({ run_id: id }) => id));
      expect(next.total).toBe(3);
      await act(gateway, bot, `later ${found.length}`, 'ann@acme.com');
      if (next.next_cursor === null) break;
    }
    expect(found).toEqual(['three', 'two', 'one']);
    const { body } = await gateway.api.get<Runs>('/api/v1/runs?per_page=1', bootstrapKey);
    const foreign = await gateway.api.get(`/api/v1/runs?user=ann@acme.com&cursor=${body.next_cursor}`, bootstrapKey);
    expect(foreign.status).toBe(422);
  });

  test('of a user are not those whose id was forgotten and taken up for another', async () => {
    await using store = await open();
    const gateway = await store.start({ policies, env: { SVC_SUBJECTS: file, SVC_RUN_TTL_SECS: '1' } });
    const bot = await gateway.register({ agentId: 'bot' });
    await act(gateway, bot, 'again', 'ann@acme.com');
    expect(await runsOf(gateway, '?user=ann@acme.com')).toEqual(['acme:again']);
    const found = await gateway.api.get<Runs>('/api/v1/runs', bootstrapKey);
    const last = Date.parse(found.body.items[0]?.last_at ?? '');
    // The passing of time is what this is about.
    while (Date.now() <= last + 1100) await new Promise((resolve) => setTimeout(resolve, 50));
    await act(gateway, bot, 'again', 'bob@acme.com');
    expect(await runsOf(gateway, '?user=ann@acme.com')).toEqual([]);
    expect(await runsOf(gateway, '?user=bob@acme.com')).toEqual(['acme:again']);
  });
});

test('runs are found by what they cost, to the micro, and by a command', async () => {
  await using store = await sqliteStore.open();
  const gateway = await store.start({ policies, env: { SVC_SUBJECTS: file } });
  const bot = await gateway.register({ agentId: 'bot' });
  for (const [runId, costMicros] of [
    ['free', 0],
    ['half', 500_000],
    ['more', 500_001],
  ] as const) {
    const { opId } = await gateway.check(bot, { runId });
    await gateway.complete(bot, opId, { actualCostMicros: costMicros });
  }
  expect(await runsOf(gateway, '?min_cost_usd=0.5')).toEqual(['acme:half', 'acme:more']);
  expect(await runsOf(gateway, '?min_cost_usd=0.500001')).toEqual(['acme:more']);
  expect(await runsOf(gateway, '?max_cost_usd=0.50')).toEqual(['acme:free', 'acme:half']);
  expect(await runsOf(gateway, '?min_cost_usd=0.1&max_cost_usd=0.5')).toEqual(['acme:half']);
  expect(await runsOf(gateway, '?max_cost_usd=0')).toEqual(['acme:free']);
  for (const wrong of ['-1', '1e3', 'x', '0.0000001', ''])
    expect((await gateway.api.get(`/api/v1/runs?min_cost_usd=${wrong}`, bootstrapKey)).status).toBe(422);
  using home = new TestHome();
  const env = { REEVE_API_URL: gateway.http };
  await home.run(['login', '--api-key', bootstrapKey], { env });
  await act(gateway, bot, 'half', 'ann@acme.com');
  const listed = await home.run(['runs', '--user', 'ann@acme.com', '--min-cost', '0.5', '--max-cost', '1'], { env });
  expect(listed.stdout).toMatch(/^half /m);
  expect(listed.stdout).not.toMatch(/^more /m);
});
