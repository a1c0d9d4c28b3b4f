import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { expectAccessible, noticeOf, registerOwner, scrollsSideways, signIn, TestBrowser } from '../harness/browser.ts';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';
import { whenLive } from '../harness/ops-world.ts';

const policy = `
name: base
rules:
  - { name: searching, effect: allow, tools: [search] }
  - { name: no-payments, effect: deny, tools: ['pay*'] }
`;

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let bot: Registered;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({ policies: { 'base.yaml': policy } });
  owner = await registerOwner(gateway);
  bot = await gateway.register({ agentId: 'bot' });
  for (let at = 0; at < 120; at++) await gateway.check(bot, { traceId: `t${at}`, spanId: 's' });
  await gateway.check(bot, { traceId: 'pay', spanId: 's', context: toolCall('payments.send', { to: 'mallory' }) });
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

async function open(path = '/audit', of = gateway, login = owner): Promise<Page> {
  const page = await browser.open(of, { path });
  await signIn(page, login);
  await page.getByRole('grid', { name: 'Audit entries' }).waitFor();
  return page;
}

const rows = (page: Page) => page.getByRole('grid', { name: 'Audit entries' }).getByRole('row');

describe('the list', () => {
  test('shows the newest entries first, and a link to a filter shows the same to whoever opens it', async () => {
    const page = await open('/audit?decision=deny');
    await rows(page).getByText('ActionDenied').waitFor();
    await rows(page).getByText('payments.send', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(2);
    await page.getByText('1 entry shown, which is all there is').waitFor();
    await page.getByLabel('Decision').selectOption('Allowed');
    await page.waitForURL(/decision=allow/);
    await rows(page).getByText('ActionAllowed').first().waitFor();
    expect(await rows(page).getByText('ActionDenied').count()).toBe(0);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await rows(page).getByText('LoginSucceeded').first().waitFor();
    await browser.closePage(page);
  });

  test('reads on as it is scrolled, to the first entry', async () => {
    const page = await open();
    await page.getByRole('grid', { name: 'Audit entries' }).focus();
    // Scrolls to the end of what is loaded, again and again, with time to draw in between.
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End');
          return rows(page).getByText('PolicyReloaded').count();
        },
        { timeout: 30_000, interval: 500 },
      )
      .toBeGreaterThan(0);
    await page.getByText('which is all there is').waitFor();
    await browser.closePage(page);
  });

  test('stands still while it is read, and shows what is new when asked', async () => {
    const page = await open('/audit?event_type=ActionAllowed');
    const first = rows(page).nth(1);
    // The list is there: what happens from now on is news to it.
    await first.getByText('ActionAllowed').waitFor();
    const before = await first.textContent();
    await whenLive(page);
    await gateway.check(bot, { traceId: 'news', spanId: 's' });
    await page.getByRole('button', { name: 'Show newer entries' }).click();
    await expect.poll(() => first.textContent(), { timeout: 20_000 }).not.toBe(before);
    await first.click();
    await page.getByRole('dialog').getByText('news:s').first().waitFor();
    await browser.closePage(page);
  });

  test('says what to do where nothing fits', async () => {
    const page = await browser.open(gateway, { path: '/audit?q=nowhere-to-be-found' });
    await signIn(page, owner);
    await page.getByText('No entry fits these filters').waitFor();
    await browser.closePage(page);
  });
});

describe('an entry', () => {
  test('opens with all that it says, its hash worked out in the browser, and Back closes it', async () => {
    const page = await open('/audit?event_type=ActionDenied');
    await rows(page).nth(1).click();
    const drawer = page.getByRole('dialog', { name: /^Entry \d+: ActionDenied/ });
    const rule = drawer.getByRole('link', { name: 'base/no-payments' });
    expect(await rule.getAttribute('href')).toBe('/policies?name=base');
    expect(await drawer.getByRole('link', { name: /\/bot$/ }).getAttribute('href')).toMatch(/^\/topology\?agent=/);
    await drawer.getByText('mallory').waitFor();
    await drawer.getByText('it fits the content').waitFor();
    expect(page.url()).toMatch(/seq=\d+/);
    await page.goBack();
    await drawer.waitFor({ state: 'hidden' });
    await browser.closePage(page);
  });

  test('opens by a link, however old it is', async () => {
    const page = await open('/audit?seq=1');
    await page.getByRole('dialog', { name: 'Entry 1: PolicyReloaded' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toMatch(/seq=/);
    await browser.closePage(page);
  });
});

describe('the chain', () => {
  test('is verified in the browser', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/^\d+ entries, unbroken\./).waitFor();
    await browser.closePage(page);
  });

  test('names the entry that somebody has changed behind the gateway’s back', async () => {
    await using own = await TestGateway.start({ policies: { 'base.yaml': policy } });
    const person = await registerOwner(own);
    const agent = await own.register({ agentId: 'bot' });
    for (let at = 0; at < 5; at++) await own.check(agent);
    await own.kill('SIGTERM');
    const database = new DatabaseSync(join(own.folder, 'reeve.db'));
    const { seq } = database.prepare(`SELECT seq FROM audit WHERE canonical LIKE '%searching%' LIMIT 1`).get() as {
      seq: number;
    };
    database
      .prepare(`UPDATE audit SET canonical = replace(canonical, 'searching', 'forgotten') WHERE seq = ?`)
      .run(seq);
    database.close();
    const again = await TestGateway.start({ folder: own.folder });
    const page = await open('/audit', again, person);
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByRole('alert').getByText(`Entry ${seq} is broken: its hash does not fit its content.`).waitFor();
    await browser.closePage(page);
    await again.kill();
  });

  test('of a tenant is a part, and the page says so', async () => {
    await using own = await TestGateway.start({
      policies: { 'base.yaml': policy },
      env: { SVC_DATABASE_URL: 'memory:' },
    });
    const { key } = await makeKey(own, { org_id: 'acme' });
    const mine = await own.register({ agentId: 'mine' });
    const theirs = await own.register({ orgId: 'globex', agentId: 'theirs' });
    await own.check(mine);
    await own.check(theirs);
    await own.check(mine);
    const page = await browser.open(own, { path: '/audit' });
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await rows(page).getByText('acme/core/mine').first().waitFor();
    expect(await page.getByText('globex').count()).toBe(0);
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/each one’s own hash fits\. This is a part of the log/).waitFor();
    await browser.closePage(page);
  });
});

describe('an export', () => {
  test.each([
    ['JSON lines, verifiable', /_decision-deny\.jsonl$/, /^\{.*"event_type":"ActionDenied".*\}\n$/],
    ['CSV, for spreadsheets', /_decision-deny\.csv$/, /^seq,at,.*\n.*ActionDenied/],
  ])('saves what the filter shows as %s', async (choice, name, content) => {
    const page = await browser.open(gateway, { path: '/audit?decision=deny' });
    // A test cannot answer the system's own dialog.
    await page.addInitScript('delete window.showSaveFilePicker');
    await page.reload();
    await signIn(page, owner);
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: choice }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(name);
    expect(readFileSync(await download.path(), 'utf8')).toMatch(content);
    await noticeOf(page, /^Exported /).waitFor();
    await browser.closePage(page);
  });
});

describe('for everybody', () => {
  test.each(['light', 'dark'] as const)('is accessible in the %s theme', async (theme) => {
    const page = await browser.open(gateway, { path: '/audit', theme });
    await signIn(page, owner);
    await rows(page).nth(1).waitFor();
    await expectAccessible(page);
    await rows(page).nth(1).click();
    await page.getByText('it fits the content').waitFor();
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('fits a phone', async () => {
    const page = await browser.open(gateway, { path: '/audit', viewport: { width: 390, height: 844 } });
    await signIn(page, owner);
    await rows(page).nth(1).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await browser.closePage(page);
  });

  test('is read by keyboard alone', async () => {
    const page = await open('/audit?event_type=ActionDenied');
    await page.getByRole('grid', { name: 'Audit entries' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /ActionDenied/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await browser.closePage(page);
  });
});
