import type { Page } from 'playwright-core';
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
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { postgresStore } from '../harness/stores.ts';

/** A gateway shows itself in the database. These rows are as two others would write them; one is silent for minutes. */
const others = `INSERT INTO gateways (seat, id, version, hears_others, started_at, seen_at, agents, ops_in_flight) VALUES
  (8, 'aaaaaaaa-0000-4000-8000-000000000000', '0.2.0', true,
    clock_timestamp() - interval '2 hours', clock_timestamp() + interval '1 hour', 12, 1),
  (9, 'bbbbbbbb-0000-4000-8000-000000000000', '0.0.9', true,
    clock_timestamp() - interval '3 days', clock_timestamp() - interval '10 minutes', 1, 0)
  ON CONFLICT DO NOTHING`;

let browser: TestBrowser;
let store: TestStore;
let gateway: TestGateway;
let owner: Login;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  store = await postgresStore.open();
  gateway = await store.start({ policies: { 'test.yaml': allowAll } });
  owner = await registerOwner(gateway);
});

afterAll(async () => {
  await browser.close();
  await store[Symbol.asyncDispose]();
});

const card = (page: Page) => page.getByRole('region', { name: 'Gateways', exact: true });
const rows = (page: Page) => card(page).getByRole('listitem');

async function openSeveral(options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  await store.change(others);
  const page = await browser.open(gateway, options);
  await signIn(page, owner);
  await rows(page).nth(2).waitFor();
  return page;
}

describe('the gateways on the overview', () => {
  test('are one line for a gateway alone', async () => {
    await using alone = await TestGateway.start({ policies: { 'test.yaml': allowAll } });
    const login = await registerOwner(alone);
    const page = await browser.open(alone);
    await signIn(page, login);
    await card(page)
      .getByText(/^One gateway, up [\d.]+ /)
      .waitFor();
    await card(page).getByText('Active').waitFor();
    expect(await rows(page).count()).toBe(0);
    await browser.closePage(page);
  });

  test('show by themselves that there are others, that one is lost, and that versions differ', async () => {
    const page = await browser.open(gateway);
    await signIn(page, owner);
    await card(page).getByText('One gateway').waitFor();
    await store.change(others);
    await rows(page).nth(2).waitFor({ timeout: 40_000 });
    const [own, other, lost] = await rows(page).allTextContents();
    expect(own).toMatch(
      /^[0-9a-f]{8}this oneActiveversion \d+\.\d+\.\d+, up [\dhms. ]+0 agents, 0 operations in flight$/,
    );
    expect(other).toMatch(/^aaaaaaaaActiveversion 0\.2\.0, up 2 h 00 m12 agents, 1 operation in flight$/);
    expect(lost).toMatch(
      /^bbbbbbbbLostversion 0\.0\.9, started 3 days agolast heard with 1 agent, 0 operations in flight$/,
    );
    await card(page).getByText('1 of 3 is lost. The rest serve its agents.').waitFor();
    await card(page)
      .getByText(/^Versions differ: \d+\.\d+\.\d+ and 0\.2\.0\.$/)
      .waitFor();
    await browser.closePage(page);
  });

  test.each(['light', 'dark'] as const)('are accessible in the %s theme', async (theme) => {
    const page = await openSeveral({ theme });
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('fit a phone', async () => {
    const page = await openSeveral({ viewport: { width: 390, height: 844 } });
    expect(await scrollsSideways(page)).toBe(false);
    await browser.closePage(page);
  });

  test.each<[string, Parameters<typeof makeKey>[1]]>([
    ['a tenant', { scopes: ['read', 'write', 'admin'], org_id: 'acme' }],
    ['a reader', { scopes: ['read'] }],
  ])('are not asked for, nor shown, where %s looks', async (_who, rights) => {
    const { key } = await makeKey(gateway, rights);
    const page = await browser.open(gateway);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await signInByKey(page, key);
    await page.getByRole('region', { name: 'Gateway', exact: true }).getByText('OK').first().waitFor();
    expect(await card(page).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(asked).not.toContain('/api/v1/cluster');
    await browser.closePage(page);
  });

  test('vanish without an error when the gateway refuses them after all', async () => {
    const page = await browser.open(gateway);
    const json = { type: 'about:blank', title: 'Forbidden', status: 403, code: 'insufficient_scope' };
    await page.route('**/api/v1/cluster', (route) => route.fulfill({ status: 403, json }));
    const refused = page.waitForResponse('**/api/v1/cluster');
    await signInByKey(page, bootstrapKey);
    await refused;
    await card(page).waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
    await browser.closePage(page);
  });

  test('say when they could not be loaded, and offer to try again', async () => {
    await store.change(others);
    const page = await browser.open(gateway);
    await page.route('**/api/v1/cluster', (route) => route.abort());
    await signInByKey(page, bootstrapKey);
    await card(page).getByRole('alert').getByText('The gateways could not be loaded').waitFor();
    await page.unroute('**/api/v1/cluster');
    await card(page).getByRole('button', { name: 'Try again' }).click();
    await rows(page).nth(2).waitFor();
    await browser.closePage(page);
  });
});
