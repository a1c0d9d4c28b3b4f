import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { expectAccessible, registerOwner, scrollsSideways, signIn, TestBrowser } from '../harness/browser.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

const policy = `
name: p
rules:
  - {name: staff, effect: allow, tools: [search], users: ["*@acme.com"]}
  - {name: pay, effect: require_approval, tools: [pay]}
`;

let issuer: TokenIssuer;
let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let folder: string;

beforeAll(async () => {
  issuer = await TokenIssuer.start();
  browser = await TestBrowser.launch();
  folder = mkdtempSync(join(tmpdir(), 'reeve-subjects-'));
  const file = join(folder, 'subjects.yaml');
  writeFileSync(file, issuer.subjects);
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy }, env: { SVC_SUBJECTS: file } });
  owner = await registerOwner(gateway);
  const bot = await gateway.register({ agentId: 'bot' });
  const other = await gateway.register({ orgId: 'umbrella', agentId: 'helper' });
  const ann = await issuer.sign({ sub: 'u-1', email: 'ann@acme.com' });
  const eve = await issuer.sign({ sub: 'u-2', email: 'eve@elsewhere.com' });
  await gateway.check(bot, { subjectToken: eve, traceId: 'denied', spanId: 's' });
  await gateway.check(bot, { subjectToken: ann });
  await gateway.check(bot, { subjectToken: ann, context: toolCall('pay') });
  await gateway.check(other, { subjectToken: await issuer.sign({ sub: 'svc-build' }) });
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function open(path: string, options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  const page = await browser.open(gateway, { ...options, path });
  await signIn(page, owner);
  return page;
}

const rowsOf = (page: Page) => page.getByRole('grid', { name: 'People' }).getByRole('row');

test('a person leads to the runs in which agents acted for them, and these are narrowed by what they cost', async () => {
  const page = await open('/people?user=ann@acme.com');
  await rowsOf(page).getByText('ann@acme.com').click();
  await page.getByRole('dialog', { name: 'ann@acme.com' }).getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
  await page.getByText('1 run,').waitFor();
  await page.getByRole('grid', { name: 'Runs' }).getByText('bot, without a run id').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Cost from (USD)').fill('0.000001');
  await page.getByText('0 runs').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByText('2 runs').waitFor();
  await page.getByLabel('User').fill('svc-build');
  await page.getByRole('grid', { name: 'Runs' }).getByText('helper, without a run id').waitFor();
  await page.getByLabel('Cost to (USD)').fill('dear');
  await page.getByText('must be US dollars').waitFor();
  await browser.closePage(page);
});

test('people are listed with what was decided, and the keyboard opens one, who leads to what was denied', async () => {
  const page = await open('/');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('u');
  await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
  await rowsOf(page).getByText('svc-build').waitFor();
  await page.getByText('3 people').waitFor();
  expect(await rowsOf(page).nth(2).innerText()).toMatch(/ann@acme\.com[\s\S]*\s1\s+0\s+1\s/);
  await page.getByLabel('Org').fill('acme');
  await page.getByText('2 people').waitFor();
  await page.getByRole('grid', { name: 'People' }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'eve@elsewhere.com' });
  await drawer.getByText(issuer.url).waitFor();
  await drawer.getByText('no rule allows').first().waitFor();
  await expectAccessible(page);
  await drawer.getByRole('link', { name: 'acme/core/bot' }).waitFor();
  expect(await drawer.getByRole('link', { name: 'Operation' }).getAttribute('href')).toContain('denied');
  await drawer.getByRole('link', { name: 'All denials' }).click();
  await page.waitForURL(/\/audit\?/);
  await page.getByRole('grid', { name: 'Audit entries' }).getByText('ActionDenied').waitFor();
  expect(new URL(page.url()).searchParams.get('user')).toBe('eve@elsewhere.com');
  await browser.closePage(page);
});

test('a link opens a person, whom the list does not show', async () => {
  const sub = `/people?user=nobody&sub=u-1&issuer=${encodeURIComponent(issuer.url)}`;
  const page = await open(sub);
  await page.getByRole('dialog', { name: 'ann@acme.com' }).getByText('Nothing, as far as the log reaches.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('No agent acted for somebody who fits these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByText('3 people').waitFor();
  await browser.closePage(page);
});

test.each(['light', 'dark'] as const)('the page fits a phone and is accessible in the %s theme', async (theme) => {
  const page = await open('/people', { theme, viewport: { width: 390, height: 844 } });
  await page.getByText('eve@elsewhere.com').waitFor();
  await page.getByText('1 allowed, 0 denied, 1 held').waitFor();
  await expectAccessible(page);
  expect(await scrollsSideways(page)).toBe(false);
  await browser.closePage(page);
});

test('a gateway on which nobody was named tells how to name somebody', async () => {
  await using bare = await TestGateway.start({});
  const login = await registerOwner(bare);
  const page = await browser.open(bare, { path: '/people' });
  await signIn(page, login);
  await page.getByText('No agent has acted for anybody yet').waitFor();
  await page.getByText('reeve serve --subjects subjects.yaml').waitFor();
  await expectAccessible(page);
  await browser.closePage(page);
});
