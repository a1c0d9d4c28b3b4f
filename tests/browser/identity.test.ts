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
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { password, Person } from '../harness/person.ts';

const phone = { width: 390, height: 844 };

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;
let viewer: Login;
let page: Page;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({ env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' } });
  owner = await registerOwner(gateway);
  viewer = await invited('vera@example.com', 'viewer', 'Vera Viewer');
  // One sign-in for everything that the owner does here.
  page = await browser.open(gateway, { path: '/identity' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page, owner);
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

async function invited(email: string, role: string, name: string, tenant: object = {}): Promise<Login> {
  const json = { email, role, ...tenant };
  const { body } = await gateway.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, json);
  expect((await new Person(gateway).accept(body.token, { name })).status).toBe(201);
  return { email, password };
}

const row = (where: Page, text: string) => where.getByRole('row').filter({ hasText: text });
const dialog = (where: Page) => where.getByRole('dialog').filter({ visible: true });
const tab = (where: Page, name: string) => where.getByRole('tab', { name }).click();
const copied = (where: Page) => where.evaluate(() => navigator.clipboard.readText());
const meAs = async (bearer: string) => (await gateway.api.get('/api/v1/auth/me', bearer)).status;

/** Chooses from the menu of a key and confirms. */
async function actOnKey(label: string, act: 'Rotate' | 'Revoke'): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${label}` }).click();
  await page.getByRole('menuitem', { name: act }).click();
  await dialog(page).getByRole('button', { name: act }).click();
}

describe('an owner', () => {
  test('changes a role and the status of a member; the last owner is explained, and stays', async () => {
    await row(page, 'Olga Owner').getByText('The last owner stays: make somebody else an owner first.').waitFor();
    expect(await row(page, 'Olga Owner').getByRole('combobox').count()).toBe(0);
    const vera = row(page, 'Vera Viewer');
    await vera.getByLabel('Role of Vera Viewer').selectOption('admin');
    await dialog(page).getByText('It applies at once').waitFor();
    await dialog(page).getByRole('button', { name: 'Change the role' }).click();
    await noticeOf(page, 'Vera Viewer is an admin.').waitFor();
    await expect.poll(() => vera.getByLabel('Role of Vera Viewer').inputValue()).toBe('admin');
    await vera.getByLabel('Role of Vera Viewer').selectOption('viewer');
    await dialog(page).getByRole('button', { name: 'Change the role' }).click();
    await noticeOf(page, 'Vera Viewer is a viewer.').waitFor();
    await page.getByRole('button', { name: 'Disable Vera Viewer' }).click();
    await dialog(page).getByRole('button', { name: 'Disable' }).click();
    await vera.getByText('Disabled').waitFor();
    await page.getByRole('button', { name: 'Enable Vera Viewer' }).click();
    await dialog(page).getByRole('button', { name: 'Enable' }).click();
    await vera.getByText('Active').waitFor();
    await page.getByRole('textbox', { name: 'Find' }).fill('olga');
    await vera.waitFor({ state: 'hidden' });
    await page.waitForURL(/q=olga/);
  });

  test('invites somebody: the link is shown once, can be renewed, and taken back', async () => {
    await tab(page, 'Invites');
    await page.getByText('No open invites').waitFor();
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await dialog(page).getByLabel('Email').fill(viewer.email);
    await dialog(page).getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog(page).getByRole('alert').getByText('account').waitFor();
    await dialog(page).getByLabel('Email').fill('noah@example.com');
    await dialog(page).getByLabel('Role').selectOption('owner');
    await dialog(page).getByRole('button', { name: 'Invite', exact: true }).click();
    await dialog(page).getByRole('button', { name: 'Copy the link' }).click();
    const link = await copied(page);
    expect(link.startsWith(`${gateway.http}/invite#token=`)).toBe(true);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('button', { name: 'Resend the invite of noah@example.com' }).click();
    await dialog(page).getByText('/invite#token=').waitFor();
    expect(await dialog(page).getByText('/invite#token=').textContent()).not.toBe(link);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Revoke the invite of noah@example.com' }).click();
    await dialog(page).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No open invites').waitFor();
    expect(await page.content()).not.toContain('#token=');
  });

  test('invites somebody into a team, and sees where they will belong', async () => {
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await dialog(page).getByLabel('Email').fill('tess@example.com');
    await dialog(page).getByLabel('Org').fill('acme');
    await dialog(page).getByLabel('Team').fill('shop');
    await dialog(page).getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByText('will see acme/shop').waitFor();
    await page.getByRole('button', { name: 'Revoke the invite of tess@example.com' }).click();
    await dialog(page).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No open invites').waitFor();
  });

  test('creates a key, which works; rotates it, which stops it; and revokes the next', async () => {
    await tab(page, 'API keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialog(page).getByLabel('Label').fill('night crawler');
    await dialog(page).getByLabel('May').selectOption('read');
    await dialog(page).getByLabel('Org (optional)').fill('not an id');
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await dialog(page).getByRole('alert').getByText('must be 1 to 128 letters').waitFor();
    await dialog(page).getByLabel('Org (optional)').fill('acme');
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await dialog(page).getByText('nobody can see it again').waitFor();
    await dialog(page).getByRole('button', { name: 'Copy the key' }).click();
    const key = await copied(page);
    await page.mouse.click(5, 400);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    expect(await page.content()).not.toContain(key);
    const { body } = await gateway.api.get<{ scopes: string[]; org_id: string }>('/api/v1/auth/me', key);
    expect([body.scopes, body.org_id]).toEqual([['read'], 'acme']);
    await row(page, 'night crawler').getByText('acme').waitFor();

    await actOnKey('night crawler', 'Rotate');
    const next = (await dialog(page).getByText(/^rvk_/).textContent()) ?? '';
    await page.getByRole('button', { name: 'I have kept it' }).click();
    expect([await meAs(key), await meAs(next)]).toEqual([401, 200]);
    await actOnKey('night crawler', 'Revoke');
    await row(page, 'night crawler').waitFor({ state: 'hidden' });
    expect(await meAs(next)).toBe(401);
    await page.getByText('All', { exact: true }).click();
    await expect.poll(() => row(page, 'night crawler').getByText('Revoked').count()).toBe(2);
    await expectAccessible(page);
  });

  test('ends sessions elsewhere; one that is ended elsewhere says so and comes back to its page', async () => {
    const elsewhere = new Person(gateway);
    await elsewhere.logIn(owner.email);
    await tab(page, 'Your sessions');
    await row(page, 'this one').waitFor();
    await page.getByRole('button', { name: 'End all others' }).click();
    await dialog(page).getByRole('button', { name: 'End' }).click();
    await noticeOf(page, /session.* ended\./).waitFor();
    await expect.poll(() => page.getByRole('table').getByRole('row').count()).toBe(2);
    expect((await elsewhere.call('GET', '/api/v1/auth/me')).status).toBe(401);

    await tab(page, 'API keys');
    await page.getByRole('textbox', { name: 'Find' }).fill('abc');
    await page.waitForURL(/q=abc/);
    const before = page.url();
    await elsewhere.logIn(owner.email);
    const { body } = await elsewhere.call<{ items: { id: string; current: boolean }[] }>(
      'GET',
      '/api/v1/auth/sessions',
    );
    for (const { id, current } of body.items) {
      if (!current) await elsewhere.call('DELETE', `/api/v1/auth/sessions/${id}`);
    }
    await page.getByText('Your session has ended.').waitFor();
    await signIn(page, owner);
    await row(page, 'abcdefghijkl').waitFor();
    expect(page.url()).toBe(before);
  });

  test.each(['light', 'dark'] as const)('reads all of it on a phone, in the %s theme', async (theme) => {
    await page.setViewportSize(phone);
    await page.emulateMedia({ colorScheme: theme });
    for (const name of ['Members', 'Invites', 'API keys', 'Your sessions', 'Your account']) {
      await tab(page, name);
      await page.getByRole('tabpanel', { name }).getByRole('heading', { level: 2 }).first().waitFor();
      await expectAccessible(page);
      expect(await scrollsSideways(page), name).toBe(false);
    }
  });
});

test('a viewer sees what is its own, and changes its password', async () => {
  const own = await browser.open(gateway, { path: '/identity?tab=members' });
  await signIn(own, viewer);
  await own.getByText('This is for administrators.').waitFor();
  expect(await own.getByRole('tab').allTextContents()).toEqual(['Your sessions', 'Your account']);
  await tab(own, 'Your account');
  await own.getByRole('tabpanel').getByText('vera@example.com').waitFor();
  await own.getByLabel('Current password').fill('not the right words');
  await own.getByLabel('New password').fill('Vera ViewerVera Viewer');
  await own.getByText('Neither your email nor your name').waitFor();
  const next = 'eight tall wooden doors';
  await own.getByLabel('New password').fill(next);
  await own.getByRole('button', { name: 'Change the password' }).click();
  await own.getByText('This is not your current password.').waitFor();
  await own.getByLabel('Current password').fill(password);
  await own.getByRole('button', { name: 'Change the password' }).click();
  await own.getByText('Your password is changed, and all of your sessions have ended.').waitFor();
  await signIn(own, { email: viewer.email, password: next });
  await own.getByRole('tab', { name: 'Your account', selected: true }).waitFor();
  await browser.closePage(own);
});

test('an admin of one org invites into it: the page offers no other org and no owner, and shows no other invites', async () => {
  await gateway.api.post('/api/v1/auth/invite', bootstrapKey, { email: 'elsewhere@example.com' });
  const admin = await invited('orla@example.com', 'admin', 'Orla', { org_id: 'umbra' });
  const own = await browser.open(gateway, { path: '/identity' });
  await signIn(own, admin);
  await own.getByText('No open invites').waitFor();
  await own.getByRole('button', { name: 'Invite someone' }).first().click();
  await dialog(own).getByText('The member is bound to umbra, as you are.').waitFor();
  expect(await dialog(own).getByLabel('Org').count()).toBe(0);
  expect(await dialog(own).getByRole('option', { name: 'Owner' }).count()).toBe(0);
  await dialog(own).getByLabel('Email').fill('uma@example.com');
  await dialog(own).getByLabel('Team').fill('night');
  await dialog(own).getByRole('button', { name: 'Invite', exact: true }).click();
  await own.getByRole('button', { name: 'I have kept it' }).click();
  await own.getByText('will see umbra/night').waitFor();
  expect(await row(own, 'elsewhere@example.com').count()).toBe(0);
  await browser.closePage(own);
});

test('a key of one org sees the keys of this org, makes more of them, and is told when it takes its own away', async () => {
  const { body } = await gateway.api.post<{ key: string }>('/api/v1/iam/api-keys', bootstrapKey, {
    label: 'umbra admin',
    scopes: ['admin'],
    org_id: 'umbra',
  });
  const own = await browser.open(gateway, { path: '/identity' });
  await signInByKey(own, body.key);
  await tab(own, 'API keys');
  await row(own, 'umbra admin').getByText('yours').waitFor();
  expect(await own.getByRole('tab').allTextContents()).toEqual(['Invites', 'API keys', 'This key']);
  expect(await row(own, 'abcdefghijkl').count()).toBe(0);
  await own.getByRole('button', { name: 'Create a key' }).click();
  await dialog(own).getByText('It is bound to umbra, as you are.').waitFor();
  await dialog(own).getByLabel('Label').fill('umbra reader');
  await dialog(own).getByRole('button', { name: 'Create' }).click();
  await own.getByRole('button', { name: 'I have kept it' }).click();
  await row(own, 'umbra reader').getByText('umbra', { exact: true }).waitFor();
  await own.getByRole('button', { name: 'Actions for umbra admin' }).click();
  await own.getByRole('menuitem', { name: 'Rotate' }).click();
  await dialog(own).getByText('and go on with the new one').waitFor();
  await dialog(own).getByRole('button', { name: 'Rotate' }).click();
  await dialog(own).getByText(/^rvk_/).waitFor();
  expect(await meAs(body.key)).toBe(401);
  await own.getByRole('button', { name: 'I have kept it' }).click();
  await own.getByRole('button', { name: 'Actions for umbra admin' }).click();
  await own.getByRole('menuitem', { name: 'Revoke' }).click();
  await dialog(own).getByText('your session ends with it').waitFor();
  await dialog(own).getByRole('button', { name: 'Revoke' }).click();
  await own.getByText('Your API key does not work any more').waitFor();
  await browser.closePage(own);
});
