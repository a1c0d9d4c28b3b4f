import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import {
  expectAccessible,
  registerOwner,
  scrollsSideways,
  signIn,
  signInByKey,
  TestBrowser,
} from '../harness/browser.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

type Budgets = RouteOutput<Routes['listBudgets']>;

const policy = `
name: money
default: allow
budget:
  daily_limit_usd: 100
  org_daily_limit_usd: 10
  team_daily_limit_usd: 8
  agent_daily_limit_usd: 1
  agent_monthly_limit_usd: 30
rates: [{ per: agent, window_secs: 3600, max: 5, tools: [mail] }]
---
name: rich
scope: org:globex
budget: { daily_limit_usd: 50 }
`;

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let bot: Registered;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({
    policies: { 'money.yaml': policy },
    env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' },
  });
  owner = await registerOwner(gateway);
  bot = await gateway.register({ agentId: 'bot' });
  await gateway.register({ orgId: 'globex', teamId: 'sales', agentId: 'seller' });
  await gateway.register({ orgId: '', teamId: '', agentId: 'lone' });
  const painter = await gateway.register({ orgId: 'shown', agentId: 'painter' });
  await gateway.complete(painter, (await gateway.check(painter, { estimatedCostMicros: 420_000 })).opId);
  const crowd = Array.from({ length: 300 }, (_, index) =>
    gateway.register({ orgId: 'many', teamId: 'crowd', agentId: `agent-${index}` }),
  );
  const [, , third] = await Promise.all(crowd);
  if (third === undefined) throw new Error('no third agent');
  await gateway.check(third, { estimatedCostMicros: 850_000 });
});
afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

interface Opening {
  readonly key?: string;
  readonly theme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
}

async function open(path: string, { key, ...options }: Opening = {}): Promise<Page> {
  const page = await browser.open(gateway, { path, ...options });
  if (key === undefined) await signIn(page, owner);
  else await signInByKey(page, key);
  await page.getByRole('heading', { name: 'Budgets', exact: true }).waitFor();
  return page;
}

const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name });
const cells = (line: Locator) => line.getByRole('gridcell').allTextContents();
const meter = (line: Locator) => line.getByRole('meter').getAttribute('aria-valuetext');

/** The gateway's figures for an agent's day, to compare with the page. */
async function dayOf(query: string) {
  const { body } = await gateway.api.get<Budgets>(`/api/v1/budgets?period=day&${query}`, bootstrapKey);
  return body.items[0];
}

describe('the tree', () => {
  test('shows everybody and the orgs, and opens teams and agents, by its URL', async () => {
    const page = await open('/budgets');
    await row(page, /^Everybody/).waitFor();
    await row(page, /^Open org globex/).waitFor();
    expect(await page.getByText('seller').count()).toBe(0);
    await page.getByRole('button', { name: 'Open org globex' }).click();
    await page.getByRole('button', { name: 'Open team sales' }).click();
    await row(page, /^seller Agent/).waitFor();
    expect(new URL(page.url()).searchParams.getAll('open')).toEqual(['globex', 'globex/sales']);
    expect((await cells(row(page, /globex Org/))).slice(2)).toEqual(['$0.00', '$0.00', '$50.00', 'not before reset']);
    await page.getByRole('button', { name: 'Open org No org' }).click();
    await page.getByRole('button', { name: 'Open team No team' }).click();
    await row(page, /^lone Agent/).waitFor();
    await page.reload();
    await row(page, /^seller Agent/).waitFor();
    await browser.closePage(page);
  });

  test('lists the agents by what they cost, the dearest first, and goes back to the tree', async () => {
    const page = await open('/budgets');
    await row(page, /^Everybody/).waitFor();
    await page.getByRole('button', { name: 'Spent' }).click();
    await expect.poll(() => row(page, /^Everybody/).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-spent');
    expect(await page.getByRole('columnheader', { name: 'Spent' }).getAttribute('aria-sort')).toBe('descending');
    await page
      .getByText(/^globex\/sales\/seller$/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Spent' }).click();
    await page.getByRole('button', { name: 'Spent' }).click();
    await row(page, /^Everybody/).waitFor();
    await browser.closePage(page);
  });

  test('lists who spent most in seven days, and leads to the run behind it', async () => {
    const spender = await gateway.register({ orgId: 'weekly', agentId: 'spender' });
    const spend = async (runId: string, micros: number) => {
      const { opId } = await gateway.check(spender, { runId, estimatedCostMicros: micros });
      await gateway.complete(spender, opId, { actualCostMicros: micros });
    };
    await spend('nightly-1', 110_000);
    await spend('nightly-2', 200_000);
    await spend('nightly-2', 300_000);
    const page = await open('/budgets');
    await page.getByText('Last 7 days', { exact: true }).click();
    const grid = page.getByRole('grid', { name: 'Spent in the last 7 days' });
    const first = grid.getByRole('row').nth(1);
    await first.getByText('weekly/core/spender').waitFor();
    expect(await cells(first)).toEqual(['weekly/core/spender', '$0.61', '$0.61']);
    expect(await page.getByRole('columnheader', { name: 'Last 7 days' }).getAttribute('aria-sort')).toBe('descending');
    await expectAccessible(page);
    await first.click();
    const drawer = page.getByRole('dialog', { name: 'Budget of agent spender' });
    await drawer.getByRole('heading', { name: 'Dearest runs, last 7 days' }).waitFor();
    const runs = drawer.getByRole('listitem').filter({ hasText: 'nightly' });
    await expect.poll(() => runs.count()).toBe(2);
    expect(await runs.first().textContent()).toMatch(/^nightly-2\s*2 operations in the log\s*\$0\.50$/);
    await expectAccessible(page);
    await drawer.getByRole('link', { name: '2 operations in the log' }).click();
    await page.getByRole('grid', { name: /Audit/ }).getByText('search').first().waitFor();
    await page.goBack();
    await drawer.getByRole('link', { name: 'nightly-2', exact: true }).click();
    await page.waitForURL(/\/ops\?.*run_id=nightly-2/);
    await browser.closePage(page);
  });

  test('is put in order on a phone, too, where columns have no headers', async () => {
    const page = await open('/budgets', { viewport: { width: 390, height: 800 } });
    await row(page, /^Everybody/).waitFor();
    await page.getByLabel('Order').selectOption({ label: 'Spent, descending' });
    await expect.poll(() => row(page, /^Everybody/).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-spent');
    await expectAccessible(page);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByLabel('Order').selectOption({ label: 'As a tree' });
    await row(page, /^Everybody/).waitFor();
    await page.getByText('Last 7 days', { exact: true }).click();
    await page.getByRole('grid', { name: 'Spent in the last 7 days' }).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await browser.closePage(page);
  });

  test('has days and months, says what has no cap, and when it begins anew', async () => {
    const page = await open('/budgets?open=globex');
    await page.getByText(/^Resets in \d+/).waitFor();
    await page.getByText('This month', { exact: true }).click();
    await eventually(async () => {
      expect((await cells(row(page, /sales Team/))).slice(1, 5)).toEqual(['No cap', '$0.00', '$0.00', 'No cap']);
    });
    expect(new URL(page.url()).searchParams.get('period')).toBe('month');
    await page.getByText(/^Resets in \d+/).waitFor();
    await browser.closePage(page);
  });

  test('loads a team’s agents by the page, and searches those that are not loaded', async () => {
    const page = await open('/budgets?open=many&open=many/crowd');
    await row(page, /^agent-0 Agent/).waitFor();
    const grid = page.getByRole('grid', { name: 'Budgets' });
    const count = async () => Number(await grid.getAttribute('aria-rowcount'));
    expect(await count()).toBeLessThan(70);
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByRole('button', { name: '250 more agents' }).click();
    await eventually(async () => expect(await count()).toBeGreaterThan(250));
    await page.getByLabel('Search').fill('agent-299');
    await row(page, /^agent-299 Agent/).waitFor();
    expect(await page.getByRole('row').count()).toBe(5);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Only past 80 %').check();
    await row(page, /^agent-2 Agent/).waitFor();
    expect(await page.getByRole('row', { name: /Agent/ }).count()).toBe(1);
    await browser.closePage(page);
  });
});

describe('live', () => {
  test('a check reserves, completion settles, and 80, 95 and 100 percent are said as they come', async () => {
    const page = await open('/budgets?open=acme&open=acme/core');
    const line = row(page, /^bot Agent/);
    await line.waitFor();
    const first = await gateway.check(bot, { estimatedCostMicros: 500_000 });
    await eventually(async () => {
      expect(await meter(line)).toBe('50 percent of $1.00: $0.00 spent, $0.50 reserved');
    });
    await gateway.complete(bot, first.opId, { actualCostMicros: 420_000 });
    await eventually(async () => {
      expect(await meter(line)).toBe('42 percent of $1.00: $0.42 spent, $0.00 reserved');
    });
    expect(await line.getByText(/Past/).count()).toBe(0);
    await gateway.check(bot, { estimatedCostMicros: 400_000 });
    await line.getByText('Past 80 %').waitFor();
    await line.getByText('82 %', { exact: true }).waitFor();
    await gateway.check(bot, { estimatedCostMicros: 140_000 });
    await line.getByText('Past 95 %').waitFor();
    const said = await dayOf('tier=agent&org_id=acme&team_id=core&agent_id=bot');
    const forecast = (await cells(line))[5] ?? '';
    expect(forecast).toMatch(said?.reached_at === null ? /^not before reset$/ : /^in \d+|^just now$/);
    await gateway.check(bot, { estimatedCostMicros: 40_000 });
    await line.getByText('Cap reached').waitFor();
    expect((await cells(line))[5]).toBe('reached');
    expect(await gateway.check(bot, { estimatedCostMicros: 1 })).toMatchObject({ policyRule: 'budget/agent.day' });
    // The tiers above count it, too.
    expect(await meter(row(page, /acme Org/))).toBe('10 percent of $10.00: $0.42 spent, $0.58 reserved');
    await browser.closePage(page);
  });

  test('the drawer has both periods, the history as a chart and as a table, and is a link of its own', async () => {
    const page = await open('/budgets?open=shown&open=shown/core');
    await row(page, /^painter Agent/).click();
    const drawer = page.getByRole('dialog', { name: 'Budget of agent painter' });
    await drawer.getByRole('heading', { name: 'Today', exact: true }).waitFor();
    await drawer.getByRole('meter', { name: 'Used of the cap of painter, this month' }).waitFor();
    await drawer.getByRole('img', { name: /^Spent by painter in \d+ days?/ }).waitFor();
    await drawer.getByText('Show as a table').click();
    const today = drawer.getByRole('row').filter({ hasText: 'so far' });
    expect(await today.getByRole('cell').allTextContents()).toEqual([
      expect.stringMatching(/so far$/),
      '$0.42',
      '$1.00',
    ]);
    await drawer.getByText('Months', { exact: true }).click();
    await drawer.getByRole('img', { name: /^Spent by painter in \d+ months?/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('of')).toBe('shown/core/painter');
    await page.goBack();
    await drawer.waitFor({ state: 'hidden' });
    await page.goto('/budgets?of=*');
    await page.getByRole('dialog', { name: 'Budget of the whole gateway' }).getByRole('img').waitFor();
    await browser.closePage(page);
  });
});

describe('who sees what', () => {
  test('a tenant sees its own orgs and not everybody’s budget', async () => {
    const key = (await makeKey(gateway, { scopes: ['read'], org_id: 'globex' })).key;
    const page = await open('/budgets', { key });
    await row(page, /globex Org/).waitFor();
    expect(await row(page, /Everybody/).count()).toBe(0);
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'Open org globex' }).click();
    await row(page, /sales Team/).click();
    await page.getByRole('dialog', { name: 'Budget of team sales' }).getByRole('heading', { name: 'Today' }).waitFor();
    await browser.closePage(page);
  });

  test('whoever asks for everybody’s or another tenant’s budget by link is told that there is none to see', async () => {
    const key = (await makeKey(gateway, { scopes: ['read'], org_id: 'globex' })).key;
    for (const of of ['*', 'acme/core']) {
      const page = await open(`/budgets?of=${of}`, { key });
      await page.getByRole('dialog').getByText('There is no such budget').waitFor();
      await browser.closePage(page);
    }
  });

  test('whoever is bound to a team sees that team below its org, which has no number for it', async () => {
    const key = (await makeKey(gateway, { scopes: ['read'], org_id: 'acme', team_id: 'core' })).key;
    const page = await open('/budgets?open=acme&open=acme/core', { key });
    await row(page, /^bot Agent/).waitFor();
    expect((await cells(row(page, /acme Org/))).slice(2)).toEqual(Array.from({ length: 4 }, () => '–not known'));
    await browser.closePage(page);
  });
});

/** Sets the gateway's clock back by some days. */
function daysAgo(days: number): Readonly<Record<string, string>> {
  const script = `const Real = Date; const now = () => Real.now() - ${days * 86_400_000};
    globalThis.Date = class extends Real { constructor(...args) { super(...(args.length === 0 ? [now()] : args)); } static now = now; };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

test('rates stand beside budgets, with what is used of them', async () => {
  const sender = await gateway.register({ orgId: 'posts', agentId: 'sender' });
  for (let time = 0; time < 4; time++) await gateway.check(sender, { context: toolCall('mail') });
  const page = await open('/budgets?org_id=posts');
  const line = page.getByRole('table', { name: 'Rates' }).getByRole('row', { name: /money\/rate-1/ });
  await line.getByText('4 of 5').waitFor();
  await line.getByText('sender').waitFor();
  await browser.closePage(page);
});

test('days of which nothing is on record are a gap in the history, not days without spend', async () => {
  const policies = { 'money.yaml': policy };
  const before = await TestGateway.start({ policies, env: daysAgo(3) });
  const spender = await before.register({ agentId: 'spender' });
  const { opId } = await before.check(spender, { estimatedCostMicros: 750_000 });
  await before.complete(spender, opId);
  await using after = await before.restart('SIGTERM', { env: { SVC_OPS_SWEEP_TICK_SECS: '1' } });
  const again = await after.register({ agentId: 'spender' });
  await after.complete(again, (await after.check(again, { estimatedCostMicros: 250_000 })).opId);
  await eventually(async () => {
    const { text } = await after.api.get('/api/v1/budgets/history?org_id=acme', bootstrapKey);
    expect(text).toContain('"0.75"');
  }, 600);
  const login = await registerOwner(after);
  const page = await browser.open(after, { path: '/budgets?of=acme' });
  await signIn(page, login);
  await page.getByText('Of 2 days nothing is on record.').waitFor();
  await page.getByText('Show as a table').click();
  const lines = page.getByRole('dialog').getByRole('row');
  const spent = await Promise.all([1, 2, 3, 4].map((index) => lines.nth(index).getByRole('cell').nth(1).textContent()));
  expect(spent).toEqual(['$0.25', '–not known', '–not known', '$0.75']);
  await browser.closePage(page);
});

test.each(['light', 'dark'] as const)('is accessible in the %s theme and fits a phone', async (theme) => {
  const page = await open('/budgets?open=acme&open=acme/core', { theme });
  await row(page, /^bot Agent/).waitFor();
  await expectAccessible(page);
  await row(page, /shown Org/).click();
  await page.getByRole('dialog').getByRole('img').waitFor();
  await page.getByText('Show as a table').click();
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await scrollsSideways(page)).toBe(false);
  await page.keyboard.press('Escape');
  await row(page, /bot Agent/).waitFor();
  await expectAccessible(page);
  expect(await scrollsSideways(page)).toBe(false);
  await browser.closePage(page);
});
