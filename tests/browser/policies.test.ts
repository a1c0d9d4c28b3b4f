import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import {
  expectAccessible,
  noticeOf,
  registerOwner,
  scrollsSideways,
  signIn,
  signInByKey,
  TestBrowser,
} from '../harness/browser.ts';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const base = `name: base
rules:
  - { name: reading, effect: allow, tools: [search, 'docs.*'] }
`;

const stored = `name: acme-rules
scope: org:acme
rules:
  - { name: no-export, effect: deny, tools: [export] }
`;

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let bot: Registered;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({ policies: { 'base.yaml': base } });
  owner = await registerOwner(gateway);
  bot = await gateway.register({ agentId: 'bot' });
  const put = await putRules(stored);
  expect(put.status, put.text).toBe(200);
  for (let at = 0; at < 5; at++) await gateway.check(bot);
  await gateway.check(bot, { context: toolCall('docs.read') });
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

const putRules = (source: string) =>
  gateway.api.send('PUT', '/api/v1/policies/acme-rules', { bearer: bootstrapKey, json: { source } });

async function open(path = '/policies', login = owner): Promise<Page> {
  const page = await browser.open(gateway, { path });
  await signIn(page, login);
  await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
  return page;
}

const editor = (page: Page, name = 'Policy document') => page.getByRole('textbox', { name });

/** Replaces the text as a person would. */
async function write(page: Page, text: string, name?: string): Promise<void> {
  await editor(page, name).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

describe('the documents', () => {
  test('are listed by scope; one of a file is read, not written', async () => {
    const page = await open();
    const list = page.getByRole('navigation', { name: 'Documents' });
    await list.getByRole('heading', { name: 'Everybody' }).waitFor();
    await list.getByRole('heading', { name: 'Org acme' }).waitFor();
    await page.getByText('This document comes from the file').waitFor();
    await editor(page).getByText('reading').waitFor();
    expect(await page.getByRole('button', { name: 'Save and put in force' }).count()).toBe(0);
    await browser.closePage(page);
  });

  test('a mistake is told at its line as it is written, and cannot be saved', async () => {
    const page = await open('/policies?name=acme-rules');
    await editor(page).getByText('no-export').waitFor();
    await write(page, stored.replace('effect: deny', 'effect: perhaps'));
    const wrong = page.getByRole('list', { name: 'What is wrong' }).getByRole('button');
    await wrong.getByText(/^Line 4, column \d+: /).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Save and put in force' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Undo changes' }).click();
    await page.getByText('Valid, together with the documents in force.').waitFor();
    await browser.closePage(page);
  });

  test('a change is put in force, has a version with its difference, and is rolled back', async () => {
    const page = await open('/policies?name=acme-rules');
    await editor(page).getByText('no-export').waitFor();
    await write(page, stored.replace('[export]', "[export, 'docs.*']"));
    await page.getByLabel('Note (optional)').fill('documents are secret now');
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await noticeOf(page, 'In force: acme-rules, version 2.').waitFor();
    expect((await gateway.check(bot, { context: toolCall('docs.read') })).decision).toBe(2);

    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('documents are secret now').waitFor();
    await page.getByRole('region', { name: 'Version 2' }).getByText("[export, 'docs.*']").waitFor();
    await page.getByRole('region', { name: 'Version 1' }).getByRole('button', { name: 'Roll back to it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await noticeOf(page, 'Version 1 is in force again, as version 3.').waitFor();
    await page.getByRole('region', { name: 'Version 3' }).getByText('in force').waitFor();
    expect((await gateway.check(bot, { context: toolCall('docs.read') })).decision).toBe(1);
    await browser.closePage(page);
  });

  test('two people at once: the second is told, and nothing is lost', async () => {
    const page = await open('/policies?name=acme-rules');
    await editor(page).getByText('no-export').waitFor();
    await write(page, `${stored}  - { name: mine, effect: deny, tools: [mine] }\n`);
    const theirs = `${stored}  - { name: theirs, effect: deny, tools: [theirs] }\n`;
    const save = page.getByRole('button', { name: 'Save and put in force' });
    await expect.poll(() => save.isEnabled(), { timeout: 20_000 }).toBe(true);
    // Stores another version between the look at the page and the click.
    await page.route('**/api/v1/policies/acme-rules', async (route) => {
      if (route.request().method() === 'PUT') {
        await putRules(theirs);
      }
      await route.continue();
    });
    await save.click();
    await page
      .getByRole('alert')
      .getByText(/Somebody has stored another version meanwhile/)
      .waitFor();
    await browser.closePage(page);
  });

  test('what somebody writes stays when somebody else stores another version, and can still be put in force', async () => {
    expect((await putRules(stored)).status).toBe(200);
    const page = await open('/policies?name=acme-rules');
    await editor(page).getByText('no-export').waitFor();
    await write(page, `${stored}  - { name: mine, effect: deny, tools: [mine] }\n`);
    await putRules(`${stored}  - { name: theirs, effect: deny, tools: [theirs] }\n`);
    await page.getByRole('alert').getByText('your text is still here').waitFor();
    await editor(page).getByText('mine').first().waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Keep my text' }).click();
    const save = page.getByRole('button', { name: 'Save and put in force' });
    await expect.poll(() => save.isEnabled(), { timeout: 20_000 }).toBe(true);
    await save.click();
    await noticeOf(page, /In force: acme-rules/).waitFor();
    expect((await gateway.check(bot, { context: toolCall('mine') })).reason).toContain('acme-rules/mine');
    await browser.closePage(page);
  });

  test('a new one is written and put in force, and taken out again', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'New document' }).click();
    await editor(page).getByText('my-policy').waitFor();
    await write(
      page,
      'name: fresh\nscope: org:globex\nmode: observe\nrules:\n  - { name: a, effect: deny, tools: [a] }\n',
    );
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await noticeOf(page, 'In force: fresh, version 1.').waitFor();
    await page
      .getByRole('navigation', { name: 'Documents' })
      .getByRole('button', { name: /fresh.*observed/ })
      .waitFor();
    await page.getByRole('button', { name: 'Take out of force' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/to confirm/).fill('fresh');
    await dialog.getByRole('button', { name: 'Take out of force' }).click();
    await expect.poll(() => page.getByRole('button', { name: /^fresh/ }).count(), { timeout: 20_000 }).toBe(0);
    await browser.closePage(page);
  });
});

describe('documents of a tenant', () => {
  test('are none at first, which is not said to deny everything: wider ones may be in force', async () => {
    const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'globex' });
    const page = await browser.open(gateway, { path: '/policies' });
    await signInByKey(page, key);
    await page.getByText('No policy of globex itself').waitFor();
    await page.getByText('wider scopes may be in force').waitFor();
    expect(await page.getByText('everything is denied').count()).toBe(0);
    // A pack is for everybody, which a tenant may not write.
    expect(await page.getByRole('button', { name: /^Use the pack/ }).count()).toBe(0);
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('have its name in theirs, and are read, changed, rolled back and taken out like any other', async () => {
    const { key } = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
    const page = await browser.open(gateway, { path: '/policies' });
    await signInByKey(page, key);
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    await page.getByRole('button', { name: 'New document' }).click();
    await editor(page).getByText('my-policy').waitFor();
    const ours = 'name: ours\nscope: org:acme\nmode: observe\nrules:\n  - { name: a, effect: deny, tools: [a] }\n';
    await write(page, ours);
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await noticeOf(page, 'In force: acme/ours, version 1.').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('name'), { timeout: 20_000 }).toBe('acme/ours');
    await write(page, `${ours}  - { name: b, effect: deny, tools: [b] }\n`);
    await page.getByRole('button', { name: 'Save and put in force' }).click();
    await noticeOf(page, 'In force: acme/ours, version 2.').waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByRole('region', { name: 'Version 1' }).getByRole('button', { name: 'Roll back to it' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await noticeOf(page, 'Version 1 is in force again, as version 3.').waitFor();

    // The page shows what the operator has written for the org, without a way to change it.
    await page
      .getByRole('navigation', { name: 'Documents' })
      .getByRole('button', { name: /^acme-rules/ })
      .click();
    await page.getByRole('region', { name: 'Version 1' }).waitFor();
    expect(await page.getByRole('button', { name: 'Roll back to it' }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Document' }).click();
    await page.getByText('The operator has written this document').waitFor();
    expect(await page.getByRole('button', { name: 'Save and put in force' }).count()).toBe(0);
    await browser.closePage(page);
  });
});

describe('trying out', () => {
  test('simulates a request with the changed text, and shows every rule considered', async () => {
    const page = await open('/policies?name=acme-rules');
    await editor(page).getByText('no-export').waitFor();
    await write(page, stored.replace('[export]', '[search]'));
    await page.getByRole('tab', { name: 'Simulate' }).click();
    await page.getByLabel('Agent').fill('acme/core/bot');
    await page.getByLabel('Tool').fill('search');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByRole('region', { name: 'Answer Denied' }).waitFor();
    const rules = page.getByRole('table', { name: 'Rules considered' });
    await rules.getByRole('row', { name: /acme-rules\/no-export.*yes/ }).waitFor();
    await rules.getByRole('row', { name: /base\/reading.*yes/ }).waitFor();
    await page.getByLabel('Arguments as JSON (optional)').fill('{oops');
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByText('must be JSON, such as').waitFor();

    await page.getByRole('tab', { name: 'Backtest' }).click();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page
      .getByRole('status')
      .getByText(/^\d+ of \d+ decisions would change\./)
      .waitFor();
    await page
      .getByRole('table', { name: 'Changes by rule' })
      .getByRole('row', { name: /acme-rules\/no-export.*5$/ })
      .waitFor();
    await page.getByRole('table', { name: 'Changes by agent' }).getByText('acme/core/bot').first().waitFor();

    await page.getByRole('tab', { name: 'Cases' }).click();
    const cases = `cases:
  - { case: export is not, agent: acme/core/bot, action: { type: tool_call, tool: export }, decision: deny }
  - { case: search is, agent: acme/core/bot, action: { type: tool_call, tool: search }, decision: allow }
`;
    await editor(page, 'Cases').waitFor();
    await write(page, cases, 'Cases');
    await page.getByRole('button', { name: 'Run the cases' }).click();
    await page.getByText(/1 case passed, 1 failed/).waitFor();
    await page.getByRole('row', { name: /failed.*search is.*decision: deny, not allow/ }).waitFor();
    await browser.closePage(page);
  });
});

describe('for everybody', () => {
  test('is accessible in both themes, and fits a phone', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const page = await browser.open(gateway, { path: '/policies?name=acme-rules', theme });
      await signIn(page, owner);
      await editor(page).waitFor();
      await expectAccessible(page);
      await page.getByRole('tab', { name: 'Versions' }).click();
      await page.getByRole('heading', { name: /^Version 1/ }).waitFor();
      await expectAccessible(page);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole('tab', { name: 'Simulate' }).click();
      expect(await scrollsSideways(page)).toBe(false);
      await browser.closePage(page);
    }
  });
});
