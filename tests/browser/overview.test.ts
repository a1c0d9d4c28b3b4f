import { Decision } from '@reeve/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { expectAccessible, registerOwner, scrollsSideways, signIn, TestBrowser } from '../harness/browser.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: base
rules:
  - { name: searching, effect: allow, tools: [search] }
  - { name: no-deletes, effect: deny, tools: ['delete*'] }
  - { name: ask, effect: require_approval, tools: ['pay*'] }
budget:
  daily_limit_usd: 100
  org_daily_limit_usd: 10
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

async function open(of = gateway, login = owner): Promise<Page> {
  const page = await browser.open(of);
  await signIn(page, login);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return page;
}

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe('the overview', () => {
  test('of an empty gateway teaches the next step, and shows nothing that it does not know', async () => {
    await using own = await TestGateway.start({ policies: { 'test.yaml': allowAll } });
    const page = await open(own, await registerOwner(own));
    await card(page, 'Decisions in the last hour').getByText('No agent has asked yet').waitFor();
    await card(page, 'Agents').getByText('reeve keys create').waitFor();
    await card(page, 'Approvals waiting').getByText('Nobody waits for an approval.').waitFor();
    await browser.closePage(page);
  });

  test('of a gateway without a policy says that it denies everything, and leads to a pack that ends that', async () => {
    await using own = await TestGateway.start();
    const page = await open(own, await registerOwner(own));
    await page.getByText('No policy is loaded, so everything is denied.').waitFor();
    await page.getByRole('link', { name: 'Choose policies' }).click();
    await page.getByRole('button', { name: 'Use the pack: Agents in general' }).click();
    const list = page.getByRole('navigation', { name: 'Documents' });
    for (const name of ['approvals', 'budgets', 'everyday', 'guardrails', 'trial']) {
      await list.getByText(name, { exact: true }).waitFor();
    }
    const agent = await own.register({ agentId: 'bot' });
    expect(await own.check(agent, { context: toolCall('search') })).toMatchObject({ decision: Decision.ALLOW });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await card(page, 'Agents').waitFor();
    expect(await page.getByText('No policy is loaded').count()).toBe(0);
    await browser.closePage(page);
  });

  test('is live: what agents do shows by itself, and each number leads to its page', async () => {
    const page = await open();
    await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
    await gateway.check(bot, { estimatedCostMicros: 8_500_000 });
    await gateway.check(bot, { context: toolCall('delete.everything') });
    await gateway.check(bot, {
      context: toolCall('pay.invoice'),
      summary: 'Pay an invoice',
      estimatedCostMicros: 10_000,
    });

    const decisions = card(page, 'Decisions in the last hour');
    await decisions.getByRole('img', { name: 'Decisions per minute' }).waitFor();
    await expect
      .poll(() => decisions.textContent(), { timeout: 20_000 })
      .toMatch(/Allowed1.*Held for approval1.*Denied1/);
    await card(page, 'Top denials in the last hour').getByRole('link', { name: 'base/no-deletes' }).waitFor();
    await card(page, 'Approvals waiting')
      .getByRole('link', { name: /Pay an invoice.*bot/ })
      .waitFor();
    await card(page, 'Budgets near their cap').getByText('85 %').waitFor();
    await expect.poll(() => card(page, 'Operations').textContent(), { timeout: 20_000 }).toMatch(/Running1.*Pending1/);
    await card(page, 'Agents').getByText('in 1 team of 1 org').waitFor();
    await card(page, 'Gateway').getByText('OK').first().waitFor();

    await card(page, 'Top denials in the last hour').getByRole('link', { name: 'base/no-deletes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    expect(page.url()).toContain('decision=deny');
    await page.goBack();
    await card(page, 'Operations')
      .getByRole('link', { name: /Running/ })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    expect(page.url()).toContain('state=running');
    await browser.closePage(page);
  });

  test('shows a policy that could not be loaded', async () => {
    await using own = await TestGateway.start({ policies: { 'test.yaml': allowAll } });
    const page = await open(own, await registerOwner(own));
    await card(page, 'Gateway').getByText('OK').first().waitFor();
    own.writePolicy('test.yaml', 'name: test\nrulez: []\n');
    await card(page, 'Gateway')
      .getByText(/test\.yaml:2:1/)
      .waitFor();
    await browser.closePage(page);
  });

  test.each(['light', 'dark'] as const)('is accessible in the %s theme', async (theme) => {
    await gateway.check(bot);
    const page = await browser.open(gateway, { theme });
    await signIn(page, owner);
    await card(page, 'Decisions in the last hour').getByRole('img').waitFor();
    await card(page, 'Operations').getByText('Running').waitFor();
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('fits a phone', async () => {
    await gateway.check(bot);
    const page = await browser.open(gateway, { viewport: { width: 390, height: 844 } });
    await signIn(page, owner);
    await card(page, 'Decisions in the last hour').getByRole('img').waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await browser.closePage(page);
  });
});
