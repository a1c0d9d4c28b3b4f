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
import { delegate } from '../harness/delegate.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let root: Registered;
let child: Registered;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' },
  });
  owner = await registerOwner(gateway);
  for (let org = 0; org < 10; org++) {
    const agents = Array.from({ length: 200 }, (_, index) =>
      gateway.register({ orgId: `org-${org}`, teamId: `team-${index % 8}`, agentId: `worker-${index}` }),
    );
    await Promise.all(agents);
  }
  root = await gateway.register(
    { agentId: 'planner' },
    { name: 'The planner', framework: 'langgraph', metadata: { owner: 'Ada' }, toolNames: ['mail.send'] },
  );
  child = await gateway.register({ agentId: 'writer' }, { parentAgentId: root.id });
  await gateway.register({ teamId: 'web', agentId: 'helper' }, { parentAgentId: child.id });
});
afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

async function open(
  path: string,
  options: {
    readonly key?: string;
    readonly viewport?: { width: number; height: number };
    readonly theme?: 'light' | 'dark';
  } = {},
) {
  const { key, ...rest } = options;
  const page = await browser.open(gateway, { path, ...rest });
  if (key === undefined) await signIn(page, owner);
  else await signInByKey(page, key);
  await page.getByRole('heading', { name: 'Topology' }).waitFor();
  return page;
}

const sum = (page: Page, term: string) =>
  page
    .locator('dl[aria-label="Sums"] > div')
    .filter({ has: page.getByText(term, { exact: true }) })
    .locator('dd');
const expectText = (locator: Locator, text: string) =>
  eventually(async () => expect(await locator.textContent()).toBe(text));
const rows = (page: Page) => page.getByRole('grid', { name: 'Agents' }).getByRole('row');
const nodes = (page: Page) => page.locator('.react-flow__node');

describe('the graph of two thousand agents', () => {
  test('begins with the orgs, opens what is asked for, and draws only what is in sight', async () => {
    const page = await open('/topology');
    await expectText(sum(page, 'Agents'), '2,003');
    await page.getByRole('button', { name: 'Org org-3 200 agents' }).waitFor();
    expect(await nodes(page).count()).toBe(11);
    await page.getByRole('button', { name: 'Org org-3 200 agents' }).click();
    await page.getByRole('button', { name: 'Team team-2 25 agents' }).click();
    await page.getByRole('button', { name: /0 in flight, \$0.00 Agent org-3\/team-2\/worker-2, active$/ }).waitFor();
    expect(new URL(page.url()).searchParams.getAll('open')).toEqual(['org-3', 'org-3/team-2']);
    // A link shows the same view, even with all two hundred agents of the org, most of them out of view.
    const teams = Array.from({ length: 8 }, (_, index) => `&open=org-3/team-${index}`).join('');
    await page.goto(`/topology?org_id=org-3&open=org-3${teams}`);
    await page.getByRole('button', { name: /Agent org-3\/team-0\/worker-0, / }).waitFor();
    expect(await nodes(page).count()).toBeLessThan(150);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await eventually(async () => expect(await nodes(page).count()).toBe(11));
    await browser.closePage(page);
  });

  test('finds an agent by words, opens where it is, and forgets the search with the filters', async () => {
    const page = await open('/topology');
    await page.getByLabel('Search').fill('org-7 worker-19');
    await page.getByRole('button', { name: /Agent org-7\/team-7\/worker-199, / }).waitFor();
    await page.getByText('11 of 2,003 agents').waitFor();
    await page.getByLabel('Search').fill('nobody-is-called-so');
    await page.getByText('No agent fits these filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await page.getByRole('button', { name: 'Org org-0 200 agents' }).waitFor();
    await browser.closePage(page);
  });

  test('draws lineage between agents, and to the team that stands for those inside', async () => {
    const page = await open('/topology?org_id=acme&open=acme&open=acme/core');
    await page.getByRole('button', { name: /Agent acme\/core\/planner, / }).waitFor();
    await eventually(async () => expect(await page.locator('.react-flow__edge').count()).toBe(2));
    await page.getByRole('button', { name: 'Team web 1 agent' }).click();
    await page.getByRole('button', { name: /Agent acme\/web\/helper, / }).waitFor();
    expect(await page.locator('.react-flow__edge').count()).toBe(2);
    await browser.closePage(page);
  });

  test('draws a delegation with its limits, and one button ends it', async () => {
    const clerk = await delegate(gateway, root, 'clerk', { maxChecks: 5, maxCostMicros: 2_000_000, tools: ['mail.*'] });
    await gateway.check(clerk, { context: toolCall('mail.send') });
    const page = await open('/topology?org_id=acme&open=acme&open=acme/core');
    await page.locator('.react-flow__edge').getByText('1/5 · $0.00/$2.00').waitFor();
    await page.goto(`${gateway.http}/topology?agent=acme/core/clerk`);
    const drawer = page.getByRole('dialog', { name: 'clerk' });
    await drawer.getByText('1 of 5 checks · $0.00 of $2.00 · tools: mail.*').waitFor();
    await drawer.getByRole('button', { name: 'End delegation' }).click();
    const dialog = page.getByRole('dialog', { name: 'End the delegation of clerk?' });
    await dialog.getByRole('button', { name: 'End delegation' }).click();
    await page
      .getByRole('region', { name: 'Notifications' })
      .getByText('acme/core/clerk acts for nobody any more')
      .waitFor();
    expect(await gateway.check(clerk)).toMatchObject({ decision: 2, policyRule: 'identity' });
    await browser.closePage(page);
  });

  test('is worked by keyboard alone', async () => {
    const page = await open('/topology?org_id=acme&open=acme');
    const team = page.getByRole('button', { name: 'Team core 2 agents' });
    await team.focus();
    await page.keyboard.press('Enter');
    const agent = page.getByRole('button', { name: /Agent acme\/core\/planner, / });
    await agent.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'planner' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'planner' }).waitFor({ state: 'hidden' });
    await eventually(async () => {
      expect(await page.evaluate<string>('document.activeElement.title')).toBe('acme/core/planner');
    });
    await browser.closePage(page);
  });
});

describe('the table', () => {
  test('has all agents, draws those in sight, and is sorted and narrowed by its URL', async () => {
    const page = await open('/topology?view=table');
    const grid = page.getByRole('grid', { name: 'Agents' });
    await rows(page).nth(5).waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('2004');
    expect(await rows(page).count()).toBeLessThan(60);
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    await page.getByRole('button', { name: 'Agent', exact: true }).click();
    await expectText(rows(page).nth(1).getByRole('gridcell').first(), 'writer');
    expect(await page.getByRole('columnheader', { name: 'Agent' }).getAttribute('aria-sort')).toBe('descending');
    await page.getByLabel('Org', { exact: true }).selectOption('acme');
    await page.getByLabel('Team', { exact: true }).selectOption('web');
    await page.getByText('1 of 2,003 agents').waitFor();
    expect(new URL(page.url()).search).toBe('?view=table&sort=-agent&org_id=acme&team_id=web');
    await browser.closePage(page);
  });

  test('opens an agent with its record and lineage, the root first; Back closes it', async () => {
    await gateway.check(child, { traceId: 'shown', spanId: '1', summary: 'Write the report' });
    const page = await open('/topology?view=table&org_id=acme');
    await page.getByRole('row', { name: /^writer/ }).click();
    const drawer = page.getByRole('dialog', { name: 'writer' });
    const lineage = drawer.getByRole('listitem').filter({ has: page.getByText(/^(planner|writer)$/) });
    await expectText(lineage.nth(0), 'planner');
    await expectText(lineage.nth(1), 'writer');
    await drawer.getByRole('link', { name: 'Write the report' }).waitFor();
    expect(await drawer.getByRole('link', { name: /^All 1 in Operations/ }).getAttribute('href')).toBe(
      '/ops?org_id=acme&team_id=core&agent_id=writer',
    );
    await drawer.getByRole('button', { name: 'planner' }).click();
    const parent = page.getByRole('dialog', { name: 'planner' });
    await parent.getByText('mail.send').waitFor();
    await parent.getByText('Ada', { exact: true }).waitFor();
    await page.goBack();
    await drawer.waitFor();
    await page.goBack();
    await drawer.waitFor({ state: 'hidden' });
    await gateway.complete(child, 'shown:1');
    await browser.closePage(page);
  });
});

describe('control', () => {
  test('suspends with a reason: checks are denied, and a second operator who resumes is seen at once', async () => {
    const page = await open('/topology?org_id=acme&open=acme&open=acme/core');
    await page.getByRole('button', { name: 'Suspend acme/core/writer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Suspend writer?' });
    expect(await dialog.getByRole('button', { name: 'Suspend agent' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('It mails the wrong people');
    await dialog.getByRole('button', { name: 'Suspend agent' }).click();
    await page.getByRole('region', { name: 'Notifications' }).getByText('acme/core/writer is suspended').waitFor();
    await page.getByRole('button', { name: /Agent acme\/core\/writer, suspended$/ }).waitFor();
    await expectText(sum(page, 'Suspended'), '1');
    expect(await gateway.check(child)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
    const key = (await makeKey(gateway, { scopes: ['write'], label: 'second operator' })).key;
    const second = await open('/topology?view=table&status=suspended', { key });
    await second.getByRole('row', { name: /^writer/ }).click();
    const drawer = second.getByRole('dialog', { name: 'writer' });
    await drawer.getByText('It mails the wrong people').waitFor();
    await drawer.getByRole('button', { name: 'Resume agent' }).click();
    await second.getByRole('dialog', { name: 'Resume writer?' }).getByRole('button', { name: 'Resume agent' }).click();
    await second.getByRole('region', { name: 'Notifications' }).getByText('acme/core/writer may act again').waitFor();
    await page.getByRole('button', { name: /Agent acme\/core\/writer, active$/ }).waitFor();
    await expectText(sum(page, 'Suspended'), '0');
    expect(await gateway.check(child)).toMatchObject({ decision: 1 });
    await browser.closePage(second);
    await browser.closePage(page);
  });

  test('follows what is in flight and who registers or leaves, without a reload', async () => {
    const page = await open('/topology?view=table&org_id=live');
    await page.getByText('No agent fits these filters').waitFor();
    // The page cannot refetch, so the events alone must suffice.
    await page.route('**/api/v1/topology/overview', (route) => route.abort());
    const agent = await gateway.register({ orgId: 'live', agentId: 'comet' });
    await rows(page).filter({ hasText: 'comet' }).waitFor();
    const inFlight = rows(page).filter({ hasText: 'comet' }).getByRole('gridcell').nth(5);
    await gateway.check(agent, { traceId: 'c', spanId: '1' });
    await gateway.check(agent, { traceId: 'c', spanId: '2' });
    await expectText(inFlight, '2');
    await gateway.complete(agent, 'c:1');
    await expectText(inFlight, '1');
    await gateway.deregister(agent);
    await page.getByText('No agent fits these filters').waitFor();
    await browser.closePage(page);
  });

  test('of an agent that has left in the meantime says so in words', async () => {
    const agent = await gateway.register({ orgId: 'gone', agentId: 'ghost' });
    const page = await open('/topology?view=table&org_id=gone');
    await rows(page).filter({ hasText: 'ghost' }).waitFor();
    await page.getByRole('button', { name: 'Suspend gone/core/ghost' }).click();
    await page.getByLabel('Reason').fill('why not');
    await gateway.deregister(agent);
    await page.getByRole('button', { name: 'Suspend agent' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /no.*agent/i })
      .waitFor();
    await browser.closePage(page);
  });
});

describe('who sees what', () => {
  test('a viewer has no controls', async () => {
    const key = (await makeKey(gateway, { scopes: ['read'] })).key;
    const page = await open('/topology?org_id=acme&open=acme&open=acme/core', { key });
    await page.getByRole('button', { name: /Agent acme\/core\/planner, / }).click();
    await page.getByRole('dialog', { name: 'planner' }).getByText('mail.send').waitFor();
    expect(await page.getByRole('button', { name: /suspend/i, includeHidden: true }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('row', { name: /^planner/ }).waitFor();
    expect(await page.getByRole('button', { name: /suspend/i, includeHidden: true }).count()).toBe(0);
    await browser.closePage(page);
  });

  test('whoever is bound to an org sees that org, and another’s agent is not there', async () => {
    const key = (await makeKey(gateway, { scopes: ['write'], org_id: 'acme' })).key;
    const page = await open('/topology?view=table&agent=org-1/team-1/worker-1', { key });
    await expectText(sum(page, 'Agents'), '3');
    await page
      .getByRole('dialog')
      .getByText(/no.*agent/i)
      .waitFor();
    await page.keyboard.press('Escape');
    expect(await rows(page).count()).toBe(4);
    expect(await page.getByLabel('Org', { exact: true }).locator('option').allTextContents()).toEqual(['Any', 'acme']);
    await browser.closePage(page);
  });

  test('an agent that is at rest, and of which nothing was heard for five minutes, is idle', async () => {
    const page = await browser.open(gateway, { path: '/topology?view=table&org_id=acme&status=idle' });
    await page.clock.setFixedTime(Date.now() + 6 * 60_000);
    await signIn(page, owner);
    await rows(page).filter({ hasText: 'helper' }).getByText('Idle').waitFor();
    await browser.closePage(page);
  });
});

test.each(['light', 'dark'] as const)(
  'is accessible in the %s theme, and fits a phone, where it begins with the table',
  async (theme) => {
    await gateway.api.post('/api/v1/agents/acme/web/helper/suspend', bootstrapKey, { reason: 'for the colours' });
    const page = await open('/topology?org_id=acme', { theme });
    await page.getByRole('button', { name: /Agent acme\/core\/planner, / }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Suspend acme/core/writer' }).click();
    await page.getByLabel('Reason').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /Agent acme\/web\/helper, suspended/ }).click();
    await page.getByText('for the colours').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('row', { name: /^planner/ }).waitFor();
    await expectAccessible(page);
    expect(await scrollsSideways(page)).toBe(false);
    await page.getByRole('row', { name: /^planner/ }).click();
    await page.getByText('mail.send').waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await browser.closePage(page);
  },
);

test('without any agent the page says how one comes to be', async () => {
  await using empty = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const login = await registerOwner(empty);
  const page = await browser.open(empty, { path: '/topology' });
  await signIn(page, login);
  await page.getByText('No agents yet').waitFor();
  await page.getByText('reeve keys create my-agents --scope write').waitFor();
  await expectAccessible(page);
  await browser.closePage(page);
});
