import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { expectAccessible, registerOwner, signIn, TestBrowser } from '../harness/browser.ts';
import { delegate } from '../harness/delegate.ts';
import type { Registered } from '../harness/gateway.ts';
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
let bot: Registered;
let folder: string;

beforeAll(async () => {
  issuer = await TokenIssuer.start();
  browser = await TestBrowser.launch();
  folder = mkdtempSync(join(tmpdir(), 'reeve-subjects-'));
  const file = join(folder, 'subjects.yaml');
  writeFileSync(file, issuer.subjects);
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy }, env: { SVC_SUBJECTS: file } });
  owner = await registerOwner(gateway);
  bot = await gateway.register({ agentId: 'bot' });
  const ann = await issuer.sign({ sub: 'u-1', email: 'ann@acme.com' });
  const eve = await issuer.sign({ sub: 'u-2', email: 'eve@elsewhere.com' });
  await gateway.check(bot, { subjectToken: ann });
  await gateway.check(bot, { subjectToken: eve });
  await gateway.check(bot, { subjectToken: ann, context: toolCall('pay'), traceId: 't', spanId: 's' });
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function open(path: string): Promise<Page> {
  const page = await browser.open(gateway, { path });
  await signIn(page, owner);
  return page;
}

const ann = () => `ann@acme.com (${issuer.url})`;

test('an approval says for whom', async () => {
  const page = await open('/approvals');
  await page.getByText(`acme/core/bot for ${ann()}`).waitFor();
  await page.getByText(ann(), { exact: true }).waitFor();
  await browser.closePage(page);
});

test('an operation says for whom', async () => {
  const page = await open('/ops?op=acme/core/bot/t:s');
  await page.getByText(ann(), { exact: true }).waitFor();
  await browser.closePage(page);
});

test('an operation and an approval say who delegated', async () => {
  const helper = await delegate(gateway, bot, 'helper');
  await gateway.check(helper, { context: toolCall('pay'), traceId: 'd', spanId: 's' });
  const page = await open('/ops?op=acme/core/helper/d:s');
  const drawer = page.getByRole('dialog', { name: 'helper: pay' });
  await drawer.getByText('Delegated by').waitFor();
  await drawer.getByRole('link', { name: 'bot', exact: true }).waitFor();
  await page.goto(`${gateway.http}/approvals`);
  await page.getByRole('button', { name: /acme\/core\/helper/ }).click();
  await page.getByText('Delegated by').waitFor();
  await page.getByRole('link', { name: 'bot', exact: true }).click();
  await page.waitForURL(/\/topology\?agent=acme/);
  await browser.closePage(page);
});

test('an entry says for whom, and leads to all that was done for that user', async () => {
  const page = await open('/audit?user=EVE@elsewhere.com');
  const rows = page.getByRole('grid', { name: 'Audit entries' }).getByRole('row');
  await rows.getByText('ActionDenied').waitFor();
  expect(await rows.count()).toBe(2);
  expect(await page.getByLabel('User').inputValue()).toBe('EVE@elsewhere.com');
  await rows.getByText('ActionDenied').click();
  await page.getByRole('link', { name: `eve@elsewhere.com (${issuer.url})` }).click();
  await page.waitForURL(/user=eve/);
  await browser.closePage(page);
});

test('a simulation takes a user', async () => {
  const page = await open('/policies?tab=simulate');
  await page.getByRole('tab', { name: 'Simulate' }).click();
  await page.getByLabel('For the user (optional)').fill('zoe@acme.com');
  await page.getByRole('button', { name: 'Simulate' }).click();
  await page.getByRole('status').getByText('allowed by rule p/staff').waitFor();
  await expectAccessible(page);
  await browser.closePage(page);
});
