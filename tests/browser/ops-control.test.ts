import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolCall } from '../harness/gateway.ts';
import { dialogOf, OpsWorld, rowOf, startWork, whenLive } from '../harness/ops-world.ts';
import type { Person } from '../harness/person.ts';

let world: OpsWorld;
/** The second operator, without a window. */
let bo: Person;

beforeAll(async () => {
  world = await OpsWorld.start({ SVC_CONTROL_ACK_SECS: '5' });
  bo = await world.member('bo@example.com', 'developer');
});

afterAll(() => world.stop());

/** Holds back the page's requests to a route until the test releases them to the gateway. */
async function holdBack(page: Page, path: string): Promise<{ readonly release: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    await promise;
    await route.continue();
  });
  return { release: resolve };
}

describe('a control', () => {
  test('is heard, then effective, and shown as no more than it is at any time', async () => {
    const { operation } = await startWork(await world.agent('pause'), { tool: 'slow.work' }, { summary: 'Takes long' });
    const page = await world.open('/ops?org_id=pause');
    const row = rowOf(page, /slow\.work/);
    await page.getByRole('button', { name: 'Pause bot: slow.work' }).click();
    await row.getByText('Paused', { exact: true }).waitFor();
    await row.getByText('heard', { exact: true }).waitFor();
    expect(await row.getByText('effective', { exact: true }).count()).toBe(0);

    await row.click();
    const drawer = dialogOf(page, 'bot: slow.work');
    const receipt = drawer.getByRole('list', { name: 'Receipt' });
    await receipt.getByRole('listitem').filter({ hasText: 'Acknowledged' }).getByText('+').waitFor();
    await receipt.getByRole('listitem').filter({ hasText: 'Effective' }).getByText('waiting').waitFor();
    void operation.checkpoint();
    await receipt.getByRole('listitem').filter({ hasText: 'Effective' }).getByText('+').waitFor();
    await drawer.getByText('The agent confirms that the work stands still.').waitFor();
    const history = drawer.getByRole('list', { name: 'History' });
    for (const words of ['Allowed', 'Pause requested', 'Running → Paused', 'Pause heard', 'Pause effective']) {
      await history.getByText(words, { exact: true }).waitFor();
    }
    await drawer.getByText('allowed by default').first().waitFor();
    await page.goBack();
    await drawer.waitFor({ state: 'detached' });
    await row.getByText('effective', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Resume bot: slow.work' }).click();
    await row.getByText('Running', { exact: true }).waitFor();
    expect(operation.state).not.toBe('terminated');
    await world.browser.closePage(page);
  });

  test('that nobody confirms says so in words', async () => {
    const silent = await world.gateway.register({ orgId: 'mute', agentId: 'silent' });
    await world.gateway.check(silent, { context: toolCall('deaf') });
    const page = await world.open('/ops?org_id=mute');
    await page.getByRole('button', { name: 'Pause silent: deaf' }).click();
    await rowOf(page, /deaf/).getByText('not reached').waitFor();
    await rowOf(page, /deaf/).getByText('no answer').waitFor({ timeout: 30_000 });
    await rowOf(page, /deaf/).click();
    await dialogOf(page, 'silent: deaf')
      .getByText(/The agent has not confirmed in time/)
      .waitFor();
    await world.browser.closePage(page);
  });

  test('gives way to a second operator who terminates while a pause is pending, and says who it was', async () => {
    const work = await startWork(await world.agent('second'), { tool: 'contested' });
    const page = await world.open('/ops?org_id=second');
    await rowOf(page, /contested/).waitFor();
    await whenLive(page);
    const { release } = await holdBack(page, '**/pause');
    await page.getByRole('button', { name: 'Pause bot: contested' }).click();
    const row = rowOf(page, /contested/);
    await row.getByText('Pausing…').waitFor();
    expect(await page.getByRole('button', { name: 'Terminate bot: contested' }).isEnabled()).toBe(true);
    expect((await bo.call('POST', `${work.path}/terminate`, { reason: 'runaway bill' })).status).toBe(202);
    await row.getByText(/^Stopped by /).waitFor();
    await row.getByText('Not paused: it was stopped by bo@example.com (runaway bill).').waitFor();
    release();
    // The gateway's own refusal says no more than that.
    await page
      .getByRole('alert')
      .getByText(/stopped by bo@example.com/)
      .waitFor();
    await world.browser.closePage(page);
  });

  test('that is refused says who was faster and what can be done now', async () => {
    const work = await startWork(await world.agent('refused'), { tool: 'doubled' });
    const page = await world.open('/ops?org_id=refused');
    await rowOf(page, /doubled/).waitFor();
    await whenLive(page);
    const { release } = await holdBack(page, '**/pause');
    await page.getByRole('button', { name: 'Pause bot: doubled' }).click();
    expect((await bo.call('POST', `${work.path}/pause`, {})).status).toBe(202);
    await rowOf(page, /doubled/)
      .getByText('Paused', { exact: true })
      .waitFor();
    release();
    const words = 'Not paused: it was paused by bo@example.com. What can be done now: resume, terminate.';
    await page.getByRole('alert').getByText(words).waitFor();
    await rowOf(page, /doubled/)
      .getByText(words)
      .waitFor();
    await world.browser.closePage(page);
  });

  test('to terminate can be given while a pause is pending, after a question', async () => {
    await startWork(await world.agent('urgent'), { tool: 'dangerous' });
    const page = await world.open('/ops?org_id=urgent');
    await rowOf(page, /dangerous/).waitFor();
    const { release } = await holdBack(page, '**/pause');
    await page.getByRole('button', { name: 'Pause bot: dangerous' }).click();
    await page.getByRole('button', { name: 'Terminate bot: dangerous' }).click();
    const question = dialogOf(page, 'Terminate this operation?');
    await question.getByLabel(/Reason/).fill('it deletes things');
    await question.getByRole('button', { name: 'Terminate operation' }).click();
    const row = rowOf(page, /dangerous/);
    await row.getByText(/^Stopped by /).waitFor();
    await row.getByText('effective', { exact: true }).waitFor();
    release();
    await row.click();
    await dialogOf(page, 'bot: dangerous').getByText('it deletes things').first().waitFor();
    await world.browser.closePage(page);
  });

  test('of a selection reaches those that it can reach', async () => {
    const agent = await world.agent('select');
    for (const tool of ['s1', 's2', 's3', 's4']) await startWork(agent, { tool });
    const page = await world.open('/ops?org_id=select&sort=resource');
    await page.getByRole('checkbox', { name: 'Select bot: s1' }).click();
    await page.getByRole('checkbox', { name: 'Select bot: s3' }).click({ modifiers: ['Shift'] });
    const bar = page.getByRole('group', { name: 'Selection' });
    await bar.getByText('3 operations selected').waitFor();
    await bar.getByRole('button', { name: 'Pause 3' }).click();
    await dialogOf(page, /Pause 3 operations/)
      .getByRole('button', { name: 'Pause 3 operations' })
      .click();
    for (const tool of ['s1', 's2', 's3'])
      await rowOf(page, new RegExp(tool)).getByText('Paused', { exact: true }).waitFor();
    await rowOf(page, /s4/).getByText('Running', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: /Select all/ }).click();
    await bar.getByText('4 operations selected').waitFor();
    await bar.getByRole('button', { name: 'Resume 3' }).waitFor();
    await bar.getByRole('button', { name: 'Pause 1' }).waitFor();
    await bar.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('group', { name: 'State' }).waitFor();
    await world.browser.closePage(page);
  });

  test('of a scope shows what it would change, wants its name typed, and reports until all agents have confirmed', async () => {
    const [one, two] = await Promise.all([world.agent('scoped', 'one'), world.agent('scoped', 'two')]);
    await Promise.all([startWork(one, { tool: 'a' }), startWork(two, { tool: 'b' }), startWork(two, { tool: 'c' })]);
    const page = await world.open('/ops?org_id=scoped&agent_id=two');
    await rowOf(page, /Tool call/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Control a scope' }).click();
    const choice = dialogOf(page, 'Control a scope');
    await choice.getByRole('status', { name: 'Preview' }).getByText('of which').waitFor();
    await choice.getByLabel('To what').selectOption('org');
    await choice.getByLabel('Do what').selectOption('terminate');
    await choice.getByText(/3 operations/).waitFor();
    await choice.getByRole('button', { name: 'Go on' }).click();
    const question = dialogOf(page, 'Terminate org scoped?');
    const confirm = question.getByRole('button', { name: 'Terminate org scoped' });
    expect(await confirm.isDisabled()).toBe(true);
    await question.getByLabel('Reason').fill('fire drill');
    await question.getByLabel(/to confirm/).fill('scope');
    expect(await confirm.isDisabled()).toBe(true);
    await question.getByLabel(/to confirm/).fill('scoped');
    await confirm.click();
    const progress = page.getByRole('status', { name: 'Progress of the scoped control' });
    await progress.getByText('Terminate of 3 operations').waitFor();
    await progress.getByText('3 effective').waitFor();
    expect(new URL(page.url()).searchParams.get('control')).toMatch(/^ctl_/);
    await rowOf(page, /two/)
      .getByText(/^Stopped by /)
      .first()
      .waitFor();
    await world.browser.closePage(page);
  });

  test('of a scope may hold everything until somebody lifts it, and every page says so', async () => {
    const agent = await world.agent('held');
    const { operation } = await startWork(agent, { tool: 'long.work' });
    const page = await world.open('/ops?org_id=held');
    await rowOf(page, /long\.work/).waitFor();
    await page.getByRole('button', { name: 'Control a scope' }).click();
    const choice = dialogOf(page, 'Control a scope');
    await choice.getByLabel('To what').selectOption('agent');
    expect(await choice.getByRole('radio').count()).toBe(0);
    await choice.getByLabel('To what').selectOption('org');
    expect(await choice.getByRole('radio', { name: /^Stop what runs now/ }).isChecked()).toBe(true);
    await choice.getByRole('radio', { name: /^Hold everything until I resume/ }).check();
    await choice.getByRole('button', { name: 'Go on' }).click();
    const question = dialogOf(page, 'Suspend org held?');
    await question.getByText('every check of every agent in it is denied').waitFor();
    await question.getByLabel('Reason').fill('fire drill');
    await question.getByLabel(/to confirm/).fill('held');
    await question.getByRole('button', { name: 'Suspend org held' }).click();
    await rowOf(page, /long\.work/)
      .getByText('Paused', { exact: true })
      .waitFor();
    const notice = page.getByRole('region', { name: 'Suspended' });
    await notice.getByText('Org held is suspended').waitFor();
    await notice.getByText(/: fire drill$/).waitFor();
    await expect(agent.run({ tool: 'more' }, () => Promise.resolve())).rejects.toThrow('org is suspended: fire drill');

    const overview = await world.open('/ops');
    await overview.getByRole('link', { name: 'Overview' }).first().click();
    await overview.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const above = overview.getByRole('region', { name: 'Suspended' });
    await above.getByRole('button', { name: 'Lift' }).click();
    await dialogOf(overview, 'Lift the suspension of org held?')
      .getByRole('button', { name: 'Lift the suspension' })
      .click();
    await above.waitFor({ state: 'detached' });
    // The other page hears of it by itself.
    await notice.waitFor({ state: 'detached' });
    await rowOf(page, /long\.work/)
      .getByText('Running', { exact: true })
      .waitFor();
    expect(operation.signal.aborted).toBe(false);
    await world.browser.closePage(overview);
    await world.browser.closePage(page);
  });
});
