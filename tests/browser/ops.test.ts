import { ActionType } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, scrollsSideways } from '../harness/browser.ts';
import { makeKey } from '../harness/credentials.ts';
import { toolCall } from '../harness/gateway.ts';
import { dialogOf, gridOf, OpsWorld, rowOf, startWork, whenLive } from '../harness/ops-world.ts';
import { password } from '../harness/person.ts';

let world: OpsWorld;

beforeAll(async () => {
  world = await OpsWorld.start();
});

afterAll(() => world.stop());

describe('the list', () => {
  test('shows what is in flight, follows what happens, and sorts', async () => {
    const agent = await world.agent('live');
    await startWork(agent, { tool: 'old.search' }, { summary: 'Look for it', estimatedCostMicros: 250_000 });
    const page = await world.open('/ops?org_id=live&state=all');
    const old = rowOf(page, /old\.search/);
    for (const text of ['bot', 'core', 'live', 'Tool call', 'old.search', 'Look for it', 'Running', '$0.25']) {
      await old.getByText(text, { exact: true }).waitFor();
    }
    await whenLive(page);
    const fresh = await startWork(agent, { type: 'llm_call', model: 'big-model' }, { summary: 'Think' });
    await rowOf(page, /big-model/)
      .getByText('LLM call')
      .waitFor();
    await page.getByText('2 in flight').waitFor();
    fresh.end();
    await rowOf(page, /big-model/)
      .getByText('Finished', { exact: true })
      .waitFor();
    await page.getByText('1 in flight').waitFor();

    expect(await gridOf(page).getByRole('row').nth(1).textContent()).toContain('big-model');
    await page.getByRole('button', { name: 'Resource' }).click();
    await page.getByRole('button', { name: 'Resource' }).click();
    await expect.poll(() => gridOf(page).getByRole('row').nth(1).textContent()).toContain('old.search');
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-resource');
    expect(await page.getByRole('columnheader', { name: 'Resource' }).getAttribute('aria-sort')).toBe('descending');
    await world.browser.closePage(page);
  });

  test('keeps filters and views in the URL, which shows the same to whoever opens it', async () => {
    const agent = await world.agent('views');
    await startWork(agent, { tool: 'alpha' }, { runId: 'run-a', summary: 'one' });
    await startWork(agent, { tool: 'beta' }, { runId: 'run-b', summary: 'two' });
    const page = await world.open('/ops');
    await page.getByLabel('Org').selectOption('views');
    await page.getByLabel('Run').selectOption('run-b');
    await rowOf(page, /beta/).waitFor();
    expect(await rowOf(page, /alpha/).count()).toBe(0);
    await page.getByRole('button', { name: 'Views' }).click();
    await dialogOf(page, 'Views').getByLabel('Save what is shown now as').fill('Second run');
    await page.getByRole('button', { name: 'Save view' }).click();
    const link = dialogOf(page, 'Views').getByRole('link', { name: 'Second run' });
    const href = (await link.getAttribute('href')) ?? '';
    expect(href).toBe('/ops?org_id=views&run_id=run-b');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await rowOf(page, /alpha/).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await link.click();
    await expect.poll(() => rowOf(page, /alpha/).count()).toBe(0);
    await rowOf(page, /beta/).waitFor();

    await page.getByLabel('Search').fill('nothing has this');
    await page.getByText('No operation fits these filters').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await rowOf(page, /alpha/).waitFor();
    await world.browser.closePage(page);
  });

  test('stands still while it is frozen, says how much is new, and its rows stay true', async () => {
    const agent = await world.agent('freeze');
    const first = await startWork(agent, { tool: 'first' });
    const page = await world.open('/ops?org_id=freeze');
    await rowOf(page, /first/).waitFor();
    await whenLive(page);
    await page.getByRole('button', { name: 'Freeze' }).click();
    await startWork(agent, { tool: 'second' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    first.end();
    await rowOf(page, /first/).getByText('Finished', { exact: true }).waitFor();
    expect(await rowOf(page, /second/).count()).toBe(0);
    await page.getByRole('button', { name: '1 new' }).click();
    await rowOf(page, /second/).waitFor();
    await world.browser.closePage(page);
  });
});

test('what starts to wait while the page is open shows at once what it wants', async () => {
  const agent = await world.gateway.register({ orgId: 'waits', agentId: 'bot' });
  const page = await world.open('/ops?org_id=waits&state=pending');
  await whenLive(page);
  await world.gateway.check(agent, { context: toolCall('refund.create'), summary: 'Refund order 18' });
  for (const text of ['Tool call', 'Refund order 18', 'Pending']) {
    await rowOf(page, /refund\.create/)
      .getByText(text, { exact: true })
      .waitFor();
  }
  await world.browser.closePage(page);
});

describe('the drawer', () => {
  test('explains the decision, and leads to the approval that is waited for', async () => {
    const agent = await world.gateway.register({ orgId: 'drawer', agentId: 'bot' });
    await world.gateway.check(agent, { context: toolCall('refund.create'), summary: 'Refund order 17' });
    const page = await world.open('/ops?org_id=drawer');
    await rowOf(page, /refund\.create/)
      .getByText('Pending', { exact: true })
      .waitFor();
    await rowOf(page, /refund\.create/).click();
    const drawer = dialogOf(page, 'bot: refund.create');
    await drawer.getByText('the tool "refund.create" matches refund*').waitFor();
    const link = drawer.getByRole('link', { name: 'Decide' });
    expect(await link.getAttribute('href')).toMatch(/^\/approvals\?id=/);
    await page.reload();
    await drawer.waitFor();
    await world.browser.closePage(page);
  });

  test('shows a command with its arguments and its folder', async () => {
    const agent = await world.gateway.register({ orgId: 'drawer', agentId: 'coder' });
    const value = { command: 'git', args: ['commit', '-m', 'two words'], workingDir: '/srv/shop' };
    const { opId } = await world.gateway.check(agent, {
      actionType: ActionType.PROCESS_EXEC,
      context: { action: { $case: 'processExec', value } },
    });
    const page = await world.open(`/ops?op=drawer/core/coder/${opId}`);
    await page.getByRole('dialog').getByText("git commit -m 'two words' (in /srv/shop)").waitFor();
    await world.browser.closePage(page);
  });

  test('asks which one is meant where an id is ambiguous, and tells of what is long gone', async () => {
    for (const agentId of ['a', 'b']) {
      const agent = await world.gateway.register({ orgId: 'twin', agentId });
      await world.gateway.check(agent, { traceId: 'twin', spanId: 'id' });
    }
    const page = await world.open('/ops?op=twin:id');
    await dialogOf(page, 'Operation').getByText('Which one is meant?').waitFor();
    await page.getByRole('link', { name: 'twin/core/b/twin:id' }).click();
    await dialogOf(page, 'b: search').getByRole('list', { name: 'History' }).waitFor();
    await page.goto('/ops?op=twin/core/b/never:was');
    await dialogOf(page, 'Operation')
      .getByText(/It is not in flight/)
      .waitFor();
    await dialogOf(page, 'Operation').getByText('The audit log has no entry about it yet.').waitFor();
    await world.browser.closePage(page);
  });
});

describe('what a person may do', () => {
  const signInByKey = async (key: string) => {
    const page = await world.browser.open(world.gateway, { path: '/ops' });
    await page.getByRole('button', { name: 'Use an API key' }).click();
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    return page;
  };

  test('a viewer sees everything and no control', async () => {
    await world.member('vi@example.com', 'viewer');
    await startWork(await world.agent('viewed'), { tool: 'watched' });
    const page = await world.open('/ops?org_id=viewed', { login: { email: 'vi@example.com', password } });
    await rowOf(page, /watched/)
      .getByText('Running', { exact: true })
      .waitFor();
    for (const name of [/^Pause /, /^Terminate /, 'Control a scope']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await rowOf(page, /watched/).click();
    await dialogOf(page, 'bot: watched').getByRole('list', { name: 'History' }).waitFor();
    expect(await page.getByRole('button', { name: 'Terminate' }).count()).toBe(0);
    await world.browser.closePage(page);
  });

  test('a developer is not offered what only an admin may stop', async () => {
    await world.member('dev@example.com', 'developer');
    const page = await world.open('/ops', { login: { email: 'dev@example.com', password } });
    await page.getByRole('button', { name: 'Control a scope' }).click();
    const options = await page.getByLabel('To what').getByRole('option').allTextContents();
    expect(options).toEqual(['A run', 'An agent', 'A team']);
    await world.browser.closePage(page);
  });

  test('a key that is bound to an org sees and controls only that org', async () => {
    await startWork(await world.agent('mine'), { tool: 'own.work' });
    await startWork(await world.agent('theirs'), { tool: 'foreign.work' });
    const { key } = await makeKey(world.gateway, { org_id: 'mine', scopes: ['admin'] });
    const page = await signInByKey(key);
    await rowOf(page, /own\.work/).waitFor();
    await page.getByText('1 in flight').waitFor();
    await startWork(await world.agent('theirs'), { tool: 'more.foreign.work' });
    await startWork(await world.agent('mine'), { tool: 'more.own.work' });
    await rowOf(page, /more\.own\.work/).waitFor();
    expect(await page.getByText(/foreign/).count()).toBe(0);
    await page.getByRole('button', { name: 'Control a scope' }).click();
    await page.getByLabel('To what').selectOption('all');
    await dialogOf(page, 'Control a scope').getByText('2 operations').waitFor();
    await world.browser.closePage(page);
  });

  test('a key that sees nothing is taught the next step', async () => {
    const { key } = await makeKey(world.gateway, { org_id: 'nobody' });
    const page = await signInByKey(key);
    await page.getByText('Nothing is in flight').waitFor();
    await page.getByText('reeve ops watch').waitFor();
    await world.browser.closePage(page);
  });
});

test('everything works by keyboard', async () => {
  const agent = await world.agent('keys');
  for (const tool of ['k1', 'k2', 'k3']) await startWork(agent, { tool });
  const page = await world.open('/ops?org_id=keys&sort=resource');
  await rowOf(page, /k3/).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('p');
  await rowOf(page, /k2/).getByText('Paused', { exact: true }).waitFor();
  await page.keyboard.press('r');
  await rowOf(page, /k2/).getByText('Running', { exact: true }).waitFor();
  await page.keyboard.press('Space');
  await page.keyboard.press('k');
  await page.keyboard.press('Space');
  await page.getByText('2 operations selected').waitFor();
  await page.keyboard.press('t');
  await dialogOf(page, 'Terminate this operation?').waitFor();
  await page.keyboard.press('Escape');
  await dialogOf(page, 'Terminate this operation?').waitFor({ state: 'detached' });
  await page.keyboard.press('t');
  await page.keyboard.type('by hand');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await rowOf(page, /k1/)
    .getByText(/^Stopped by /)
    .waitFor();
  await rowOf(page, /k3/).getByText('Running', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await dialogOf(page, 'bot: k1').waitFor();
  await page.keyboard.press('Escape');
  await dialogOf(page, 'bot: k1').waitFor({ state: 'detached' });
  await expect.poll(() => gridOf(page).evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('f');
  await page.getByText('Frozen').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('k3');
  await expect.poll(() => rowOf(page, /k2/).count()).toBe(0);
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('k3');
  await world.browser.closePage(page);
});

test.each(['light', 'dark'] as const)('it is accessible in the %s theme', async (theme) => {
  const org = `a11y-${theme}`;
  const agent = await world.agent(org);
  await startWork(agent, { tool: 'axe.one' }, { summary: 'Seen by all', runId: 'r1' });
  const ended = await startWork(agent, { tool: 'axe.two' });
  ended.end();
  const page = await world.open(`/ops?org_id=${org}&state=all`, theme === 'dark' ? { theme } : {});
  await rowOf(page, /axe\.two/)
    .getByText('Finished', { exact: true })
    .waitFor();
  await page.getByRole('button', { name: 'Pause bot: axe.one' }).click();
  await rowOf(page, /axe\.one/)
    .getByText('heard', { exact: true })
    .waitFor();
  await page.getByRole('checkbox', { name: 'Select bot: axe.one' }).click();
  await expectAccessible(page);
  await rowOf(page, /axe\.one/).click();
  await dialogOf(page, 'bot: axe.one').getByRole('list', { name: 'History' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Control a scope' }).click();
  await page.getByRole('status', { name: 'Preview' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Views' }).click();
  await expectAccessible(page);
  await world.browser.closePage(page);
});

test('it fits a phone', async () => {
  const agent = await world.reeve.register({
    orgId: 'phone',
    teamId: 'finance-operations',
    agentId: 'invoice-reconciliation',
  });
  await startWork(
    agent,
    { tool: 'erp.invoices.list-unpaid-with-reminders' },
    { summary: 'A rather long summary of it' },
  );
  const page = await world.open('/ops?org_id=phone', { viewport: { width: 390, height: 844 } });
  const row = rowOf(page, /erp\.invoices/);
  await row.getByText('Running', { exact: true }).waitFor();
  expect(await scrollsSideways(page)).toBe(false);
  await page.getByRole('button', { name: /^Pause invoice-reconciliation/ }).click();
  await row.getByText('Paused', { exact: true }).waitFor();
  await expectAccessible(page);
  await row.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).waitFor();
  expect(await scrollsSideways(page)).toBe(false);
  await expectAccessible(page);
  await world.browser.closePage(page);
});
