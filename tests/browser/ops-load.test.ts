import type { CheckActionRequest as CheckRequest } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerOwner, signIn } from '../harness/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';
import { dialogOf, gridOf, OpsWorld, rowOf, unlimited, whenLive } from '../harness/ops-world.ts';

let world: OpsWorld;

beforeAll(async () => {
  world = await OpsWorld.start();
});

afterAll(() => world.stop());

test('a lost connection is said, and made up for', async () => {
  let own = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: unlimited });
  try {
    const login = await registerOwner(own);
    const agent = await own.register({ agentId: 'bot' });
    const { opId } = await own.check(agent, { context: toolCall('before') });
    const page = await world.browser.open(own, { path: '/ops?state=all' });
    await signIn(page, login);
    await rowOf(page, /before/)
      .getByText('Running', { exact: true })
      .waitFor();
    await whenLive(page);
    await own.kill('SIGKILL');
    await page.getByText(/Not live: this is how it was at/).waitFor();
    await page.getByRole('button', { name: 'Pause bot: before' }).click();
    await rowOf(page, /before/)
      .getByText(/Unknown whether it was heard/)
      .waitFor();
    await rowOf(page, /before/)
      .getByText('Running', { exact: true })
      .waitFor();

    own = await TestGateway.start({ folder: own.folder, env: unlimited, args: ['--http', new URL(own.http).host] });
    await own.check(agent, { context: toolCall('after') });
    await own.complete(agent, opId);
    await rowOf(page, /after/).getByText('Running', { exact: true }).waitFor({ timeout: 40_000 });
    await rowOf(page, /before/)
      .getByText('Finished', { exact: true })
      .waitFor();
    await page.getByText(/Not live/).waitFor({ state: 'detached' });
    await world.browser.closePage(page);
  } finally {
    await own[Symbol.asyncDispose]();
  }
});

test('five thousand operations in flight can be scrolled, filtered and selected', async () => {
  const agent = await world.gateway.register({ orgId: 'many', agentId: 'swarm' });
  const page = await world.open('/ops?org_id=many&sort=resource');
  await whenLive(page);
  for (let batch = 0; batch < 5; batch++) {
    const requests: CheckRequest[] = Array.from({ length: 1000 }, (_, nth) => {
      const number = String(batch * 1000 + nth).padStart(4, '0');
      return checkRequest(agent, { traceId: `many-${number}`, spanId: 's', context: toolCall(`tool-${number}`) });
    });
    await world.gateway.batch(requests);
  }
  await page.getByText('5,000 in flight').waitFor({ timeout: 40_000 });
  await rowOf(page, /tool-0000/).waitFor();
  expect(await gridOf(page).getByRole('row').count()).toBeLessThan(80);
  expect(await gridOf(page).getAttribute('aria-rowcount')).toBe('5001');
  // Nothing moves under the pointer: the pressed row is the row that opens.
  await gridOf(page).evaluate((element) => element.scrollTo({ top: 90_000 }));
  await rowOf(page, /tool-2505/).click();
  await dialogOf(page, 'swarm: tool-2505').waitFor();
  await page.keyboard.press('Escape');
  await dialogOf(page, 'swarm: tool-2505').waitFor({ state: 'detached' });
  await gridOf(page).focus();
  await page.keyboard.press('End');
  await rowOf(page, /tool-4999/).waitFor();
  await page.keyboard.press('PageUp');
  await page.keyboard.press('Home');
  await rowOf(page, /tool-0000/).waitFor();
  await page.getByLabel('Search').fill('tool-42');
  await rowOf(page, /tool-4200/).waitFor();
  await eventually(async () => expect(await gridOf(page).getAttribute('aria-rowcount')).toBe('101'));
  await page.getByRole('checkbox', { name: /Select all/ }).click();
  await page.getByText('100 operations selected').waitFor();
  await page.getByRole('button', { name: 'Pause 100' }).click();
  const question = dialogOf(page, 'Pause 100 operations?');
  await question.getByLabel(/to confirm/).fill('100');
  await question.getByRole('button', { name: 'Pause 100 operations' }).click();
  await rowOf(page, /tool-4200/)
    .getByText('Paused', { exact: true })
    .waitFor();
  await page
    .getByRole('region', { name: 'Notifications' })
    .getByText(/Pause: 100 operations changed/)
    .waitFor();
  await world.browser.closePage(page);
});
