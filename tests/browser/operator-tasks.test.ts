import { readFileSync } from 'node:fs';
import { ActionType } from '@reeve/contract';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { registerOwner, signIn, TestBrowser } from '../harness/browser.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: base
default: allow
rules:
  - { name: no-exports, effect: deny, tools: ['export*'] }
  - { name: pushes, effect: require_approval, commands: ['git push **'] }
`;

const day = 86_400_000;
const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' };

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let bot: Registered;
let clicks = 0;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({ policies: { 'base.yaml': policy }, env });
  owner = await registerOwner(gateway);
  bot = await gateway.register({ agentId: 'bot' });
});
afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});
beforeEach(() => {
  clicks = 0;
});

/** Everybody begins on the overview. */
async function begin(at = gateway, who = owner, shiftMs = 0): Promise<Page> {
  const page = await browser.open(at);
  if (shiftMs > 0) await page.clock.setSystemTime(Date.now() + shiftMs);
  await signIn(page, who);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

async function click(target: Locator): Promise<void> {
  clicks++;
  await target.click();
}

/** It takes one click to open a choice, and one to choose. */
async function choose(target: Locator, label: string): Promise<void> {
  clicks += 2;
  await target.selectOption({ label });
}

const go = (page: Page, name: string) =>
  click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }));

/** The task is done. Each takes three clicks at most. */
async function done(page: Page): Promise<void> {
  expect(clicks).toBeLessThanOrEqual(3);
  await browser.closePage(page);
}

let pushes = 0;
const askToPush = () =>
  gateway.check(bot, {
    traceId: `push-${++pushes}`,
    spanId: 's',
    actionType: ActionType.PROCESS_EXEC,
    context: {
      action: {
        $case: 'processExec',
        value: { command: 'git', args: ['push', '--force', 'origin', `b${pushes}`], workingDir: '/srv/shop' },
      },
    },
  });

test('who approved yesterday', async () => {
  const { approvalId } = await askToPush();
  await gateway.api.post(`/api/v1/approvals/${approvalId}/approve`, bootstrapKey, { reason: 'fine' });
  const page = await begin(gateway, owner, day);
  await go(page, 'Approvals');
  await click(page.getByRole('tab', { name: 'Decided' }));
  await click(page.getByRole('button', { name: 'Yesterday' }));
  const row = page.getByRole('row').filter({ hasText: 'git push --force origin b1 (in /srv/shop)' });
  await row.getByRole('cell', { name: /^bootstrap/ }).waitFor();
  await page.waitForURL(/from=/);
  await done(page);
});

test('the dearest agent of the week, and the run behind it', async () => {
  const spender = await gateway.register({ teamId: 'money', agentId: 'spender' });
  const { opId } = await gateway.check(spender, { runId: 'nightly-7', estimatedCostMicros: 900_000 });
  await gateway.complete(spender, opId, { actualCostMicros: 900_000 });
  const page = await begin();
  await go(page, 'Budgets');
  await click(page.getByText('Last 7 days', { exact: true }));
  await click(page.getByRole('grid', { name: 'Spent in the last 7 days' }).getByRole('row').nth(1));
  const drawer = page.getByRole('dialog', { name: 'Budget of agent spender' });
  await drawer.getByRole('link', { name: 'nightly-7', exact: true }).waitFor();
  await done(page);
});

test('agents that act without control', async () => {
  const page = await begin();
  await go(page, 'Topology');
  await choose(page.getByLabel('Without control'), 'Model unchecked');
  await page
    .getByRole('status')
    .filter({ hasText: /\d+ of \d+ agents/ })
    .waitFor();
  await done(page);
});

test('why something was denied: its rule and its agent', async () => {
  await gateway.check(bot, { context: toolCall('export_customers') });
  const page = await begin();
  await click(page.getByRole('link', { name: 'base/no-exports' }));
  await click(page.getByRole('grid', { name: 'Audit entries' }).getByText('export_customers').first());
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('link', { name: 'base/no-exports' }).waitFor();
  await drawer.getByRole('link', { name: 'acme/core/bot' }).waitFor();
  await done(page);
});

test('an org is held until it is resumed', async () => {
  const worker = await gateway.register({ orgId: 'globex', agentId: 'worker' });
  const page = await begin();
  await go(page, 'Topology');
  await click(page.getByRole('button', { name: 'Hold org globex until I resume' }));
  const dialog = page.getByRole('dialog', { name: 'Suspend org globex?' });
  await dialog.getByLabel('Reason').fill('runaway bill');
  await dialog.getByLabel(/Type/).fill('globex');
  await click(dialog.getByRole('button', { name: 'Suspend org globex' }));
  const notice = page.getByRole('region', { name: 'Suspended' });
  await notice.getByText('Org globex is suspended').waitFor();
  expect(await gateway.check(worker)).toMatchObject({ policyRule: 'control' });
  expect(clicks).toBeLessThanOrEqual(3);
  clicks = 0;
  await click(notice.getByRole('button', { name: 'Lift' }));
  await click(page.getByRole('button', { name: 'Lift the suspension' }));
  await expect.poll(() => notice.count()).toBe(0);
  expect((await gateway.check(worker)).decision).toBe(1);
  await done(page);
});

test('the audit log is exported with a filter, which the name of the file says', async () => {
  await gateway.check(bot, { context: toolCall('export_orders') });
  const page = await begin();
  // A test cannot answer the system's own dialog.
  await page.evaluate('delete window.showSaveFilePicker');
  await click(page.getByRole('link', { name: 'All denials' }));
  await click(page.getByRole('button', { name: 'Export' }));
  const saved = page.waitForEvent('download');
  await click(page.getByRole('menuitem', { name: 'CSV, for spreadsheets' }));
  const file = await saved;
  expect(file.suggestedFilename()).toMatch(/^reeve-audit-[\d-]+_decision-deny\.csv$/);
  expect(readFileSync(await file.path(), 'utf8')).toContain('export_orders');
  await done(page);
});

test('a command that waits is approved, with its whole line in view', async () => {
  const { opId } = await askToPush();
  const line = `git push --force origin b${pushes} (in /srv/shop)`;
  const page = await begin();
  await click(page.getByRole('link').filter({ hasText: line }));
  await page.getByRole('heading', { name: line }).waitFor();
  await click(page.getByRole('button', { name: /^Approve/ }).first());
  const dialog = page.getByRole('dialog', { name: 'Approve' });
  await dialog.getByText(line).waitFor();
  await click(dialog.getByRole('button', { name: 'Approve' }));
  await expect
    .poll(async () => (await gateway.api.get<{ state: string }>(`/api/v1/ops/${opId}`, bootstrapKey)).body.state)
    .toBe('running');
  await done(page);
});

test('a pack of policies is put in force on an empty gateway', async () => {
  await using empty = await TestGateway.start({ env });
  const page = await begin(empty, await registerOwner(empty));
  await click(page.getByRole('link', { name: 'Choose policies' }));
  await click(page.getByRole('button', { name: 'Use the pack: Agents in general' }));
  await page.getByRole('navigation', { name: 'Documents' }).waitFor();
  await done(page);
});

test('a colleague is invited for one org', async () => {
  const page = await begin();
  await go(page, 'Identity');
  await click(page.getByRole('button', { name: 'Invite someone' }));
  const dialog = page.getByRole('dialog', { name: 'Invite someone' });
  await dialog.getByLabel('Email').fill('cora@example.com');
  await dialog.getByLabel('Org (optional)').fill('acme');
  await click(dialog.getByRole('button', { name: 'Invite' }));
  await page.getByRole('dialog', { name: 'The invite’s link' }).waitFor();
  await page.keyboard.press('Escape');
  const { body } = await gateway.api.get<{ items: object[] }>('/api/v1/auth/invites', bootstrapKey);
  expect(body.items).toMatchObject([{ email: 'cora@example.com', org_id: 'acme' }]);
  await done(page);
});
