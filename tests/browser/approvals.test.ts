import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { expectAccessible, noticeOf, registerOwner, scrollsSideways, signIn, TestBrowser } from '../harness/browser.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { password, Person } from '../harness/person.ts';

const policy = `
name: base
rules:
  - { name: ask, effect: require_approval, tools: ['pay*'] }
  - { name: ask-two, effect: require_approval, tools: ['deploy*'], approvals: { count: 2 } }
  - { name: ask-owners, effect: require_approval, tools: ['close*'], approvals: { by: { roles: [owner] } } }
  - { name: ask-briefly, effect: require_approval, tools: ['brief*'], approvals: { ttl_secs: 2 } }
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
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

let asked = 0;
async function ask(tool: string, summary: string, more: { readonly runId?: string; readonly args?: unknown } = {}) {
  const ids = { traceId: `t${++asked}`, spanId: 's' };
  const context = toolCall(tool, more.args ?? { order: asked });
  const answer = await gateway.check(bot, {
    ...ids,
    context,
    summary,
    runId: more.runId ?? '',
    estimatedCostMicros: 1_500_000,
  });
  expect(answer.decision).toBe(3);
  return { ...ids, approvalId: answer.approvalId };
}

const stateOf = async ({ traceId }: { readonly traceId: string }) =>
  (await gateway.api.get<{ state: string }>(`/api/v1/ops/${traceId}:s`, bootstrapKey)).body.state;

const rejectAll = async () => {
  const { body } = await gateway.api.get<{ items: { id: string }[] }>('/api/v1/approvals', bootstrapKey);
  for (const { id } of body.items) await gateway.api.post(`/api/v1/approvals/${id}/reject`, bootstrapKey, {});
};

async function open(path = '/approvals', login = owner): Promise<Page> {
  const page = await browser.open(gateway, { path });
  await signIn(page, login);
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
  return page;
}

async function invited(email: string, role: string): Promise<Login> {
  const { body } = await gateway.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, { email, role });
  const { status } = await new Person(gateway).accept(body.token);
  expect(status).toBe(201);
  return { email, password };
}

const queue = (page: Page) => page.getByRole('list', { name: 'Approvals waiting' });

// A failed test leaves nothing for the next.
afterEach(rejectAll);

describe('the queue', () => {
  test('teaches where nothing waits, and shows what comes by itself with all there is to know', async () => {
    const page = await open();
    await page.getByText('Nothing waits for an approval').waitFor();
    await ask('pay.invoice', 'Pay invoice 7', { args: { to: 'acme', password: 'hunter2-hunter2' } });
    await queue(page)
      .getByRole('button', { name: /Pay invoice 7/ })
      .waitFor();
    const detail = page.getByRole('region', { name: /^pay\.invoice\(.*to: "acme"\)$/ });
    await detail.getByText('Pay invoice 7', { exact: true }).waitFor();
    await detail.getByText('base/ask', { exact: true }).waitFor();
    await detail.getByText('$1.50').waitFor();
    await detail.getByText('"to": "acme"').waitFor();
    expect(await detail.textContent()).not.toContain('hunter2');
    await rejectAll();
    await page.getByText('Nothing waits for an approval').waitFor();
    await browser.closePage(page);
  });

  test('writes out what would disguise an action, in the list, the details and the dialog', async () => {
    await ask('pay.\u202eknab', 'Pay \u202e7 eciovni\u200b', { args: { to: 'ac\u2066me' } });
    const page = await open();
    const title = `'pay.<U+202E>knab'(to: "ac<U+2066>me")`;
    await queue(page).getByRole('button', { name: title }).waitFor();
    const detail = page.getByRole('region', { name: title });
    await detail.getByText('Pay <U+202E>7 eciovni<U+200B>', { exact: true }).waitFor();
    await detail.getByText('"to": "ac<U+2066>me"').waitFor();
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Approve' }).getByText(title).waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(/\p{Cf}/u);
    await browser.closePage(page);
  });

  test('is worked by keyboard: j and k move, a approves, r rejects', async () => {
    const first = await ask('pay.one', 'Pay one');
    const second = await ask('pay.two', 'Pay two');
    const page = await open();
    await expect.poll(() => page.locator('[aria-current="true"]').filter({ hasText: 'Pay one' }).count()).toBe(1);
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('[aria-current="true"]').filter({ hasText: 'Pay two' }).count()).toBe(1);
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Approve' }).waitFor();
    await page.keyboard.type('checked the invoice');
    await page.keyboard.press('Tab');
    await page.getByRole('dialog', { name: 'Approve' }).getByRole('button', { name: 'Approve' }).press('Enter');
    await noticeOf(page, 'Approved: it runs.').waitFor();
    await eventually(async () => expect(await stateOf(second)).toBe('running'));
    await expect.poll(() => page.locator('[aria-current="true"]').filter({ hasText: 'Pay one' }).count()).toBe(1);
    await page.keyboard.press('r');
    await page.getByRole('dialog', { name: 'Reject' }).getByRole('button', { name: 'Reject' }).click();
    await noticeOf(page, 'Rejected: it does not happen.').waitFor();
    await eventually(async () => expect(await stateOf(first)).toBe('terminated'));
    await page.getByRole('tab', { name: 'Decided' }).click();
    const decided = page.getByRole('table', { name: 'Decided approvals' });
    await decided.getByRole('button', { name: /^pay\.two\(/ }).click();
    await page.getByRole('dialog').getByText('“checked the invoice”').waitFor();
    await browser.closePage(page);
  });

  test('loses what has expired, and tells of a verdict that came too late', async () => {
    await ask('brief.one', 'Brief one');
    const page = await open();
    await page.getByText('Nothing waits for an approval').waitFor();
    const { approvalId } = await ask('pay.late', 'Pay late');
    await queue(page)
      .getByRole('button', { name: /Pay late/ })
      .waitFor();
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: 'Approve' }).waitFor();
    await gateway.api.post(`/api/v1/approvals/${approvalId}/reject`, bootstrapKey, { reason: 'no' });
    await page.getByRole('dialog').getByRole('alert').getByText('has rejected it meanwhile').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing waits for an approval').waitFor();
    await browser.closePage(page);
  });
});

describe('people', () => {
  test('two are needed where the rule says so', async () => {
    const { traceId } = await ask('deploy.app', 'Deploy the app');
    const other = await invited('second@example.com', 'developer');
    const page = await open();
    await page.getByText('0 of 2 approvals').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve' });
    await dialog.getByText(/^deploy\.app\(/).waitFor();
    await dialog.getByText('Yours is 1 of 2: it will not run before 1 more person approves.').waitFor();
    expect(await dialog.textContent()).not.toContain('at once');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await noticeOf(page, 'Your approval counts: 1 of 2. It does not run yet.').waitFor();
    await page.getByText('You have approved; somebody else has to, too.').waitFor();
    expect(await stateOf({ traceId })).toBe('pending');
    const theirs = await open('/approvals', other);
    await theirs.getByText('1 of 2 approvals').waitFor();
    await theirs.getByRole('button', { name: 'Approve' }).click();
    await theirs.getByRole('dialog').getByText('Yours is 2 of 2: it will run at once.').waitFor();
    await theirs.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await noticeOf(theirs, 'Approved: it runs.').waitFor();
    await page.getByText('Nothing waits for an approval').waitFor();
    expect(await stateOf({ traceId })).toBe('running');
    await page.getByRole('tab', { name: 'Decided' }).click();
    const decided = page.getByRole('table', { name: 'Decided approvals' });
    await page.getByLabel('By', { exact: true }).fill('SECOND@example.com');
    await expect.poll(() => decided.getByRole('button', { name: /^\w+\.\w+\(/ }).allTextContents()).toHaveLength(1);
    await decided.getByRole('button', { name: /^deploy\.app\(/ }).waitFor();
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
    await page.getByText('No decision matches').waitFor();
    await browser.closePage(theirs);
    await browser.closePage(page);
  });

  test('whose verdict does not count is told why, and is offered none', async () => {
    const { traceId } = await ask('close.books', 'Close the books');
    const page = await open('/approvals', await invited('clerk@example.com', 'developer'));
    await page
      .getByText('You cannot decide: your verdict does not count: a rule asks for somebody with the role owner.')
      .waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Reject)/ }).count()).toBe(0);
    await page.keyboard.press('a');
    expect(await page.getByRole('dialog').count()).toBe(0);
    const theirs = await open();
    await theirs.getByRole('button', { name: 'Approve' }).click();
    await theirs.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await eventually(async () => expect(await stateOf({ traceId })).toBe('running'));
    await browser.closePage(theirs);
    await browser.closePage(page);
  });

  test('a viewer looks on, and cannot decide', async () => {
    await ask('pay.view', 'Pay while watched');
    const viewer = await invited('viewer@example.com', 'viewer');
    const page = await open('/approvals', viewer);
    await queue(page)
      .getByRole('button', { name: /Pay while watched/ })
      .waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Reject)/ }).count()).toBe(0);
    await page.keyboard.press('a');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await rejectAll();
    await browser.closePage(page);
  });
});

describe('standing grants', () => {
  test('for the rest of a run let the next one through, and end when they are revoked', async () => {
    await ask('pay.run', 'Pay in a run', { runId: 'run-1' });
    const page = await open();
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve' });
    await dialog.getByLabel('For how long').selectOption('For the rest of run run-1');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await noticeOf(page, 'Approved: it runs.').waitFor();
    const again = await gateway.check(bot, { context: toolCall('pay.run', { order: 99 }), runId: 'run-1' });
    expect(again.decision).toBe(1);
    await page.getByRole('tab', { name: 'Standing grants' }).click();
    const grants = page.getByRole('table', { name: 'Standing grants' });
    await grants.getByText('run run-1').waitFor();
    await grants.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await grants.getByText('Revoked').waitFor();
    await ask('pay.run', 'Pay in a run again', { runId: 'run-1' });
    await rejectAll();
    await browser.closePage(page);
  });
});

describe('for everybody', () => {
  test.each(['light', 'dark'] as const)('is accessible in the %s theme', async (theme) => {
    await ask('pay.axe', 'Pay accessibly');
    const page = await browser.open(gateway, { path: '/approvals', theme });
    await signIn(page, owner);
    await queue(page).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('fits a phone: the queue first, the details over it', async () => {
    await ask('pay.phone', 'Pay by phone');
    const page = await browser.open(gateway, { path: '/approvals', viewport: { width: 390, height: 844 } });
    await signIn(page, owner);
    await queue(page)
      .getByRole('button', { name: /Pay by phone/ })
      .click();
    const drawer = page.getByRole('dialog', { name: /^pay\.phone\(/ });
    await drawer.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await browser.closePage(page);
  });
});
