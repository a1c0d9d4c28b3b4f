import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, TestBrowser } from '../harness/browser.ts';
import { TestHome } from '../harness/cli.ts';
import { TestGateway } from '../harness/gateway.ts';
import { SignOnProvider } from '../harness/sign-on-provider.ts';

let browser: TestBrowser;
let provider: SignOnProvider;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  provider = await SignOnProvider.start('localhost');
  gateway = await TestGateway.start({
    env: {
      ...provider.env,
      SVC_OIDC_ROLES: 'admins=admin',
      SVC_AUTH_PASSWORD: 'off',
      SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
    },
  });
  provider.serve([gateway]);
  provider.people.set('ada', { email: 'ada@example.com', name: 'Ada', groups: ['admins'] });
  provider.people.set('non', { email: 'non@example.com' });
});
afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await provider.close();
});

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

async function signOn(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
}

test('a person goes to the provider and comes back signed in, stays so, and signs out at both', async () => {
  const page = await browser.open(gateway, { path: '/audit?q=login' });
  await heading(page, 'Sign in');
  expect(await page.getByLabel('Password').count()).toBe(0);
  await expectAccessible(page);
  await signOn(page, 'ada');
  await heading(page, 'Audit');
  expect(page.url()).toBe(`${gateway.http}/audit?q=login`);
  await page.reload();
  await heading(page, 'Audit');

  await page.goto('/identity');
  await page.getByRole('tab', { name: 'Members' }).waitFor();
  expect(await page.getByRole('tab', { name: 'Invites' }).count()).toBe(0);
  await page.getByRole('tab', { name: 'Your account' }).click();
  await page.getByRole('tabpanel').getByText('ada@example.com').waitFor();
  expect(await page.getByText('Change the password').count()).toBe(0);

  await page.getByRole('button', { name: 'Account: Ada' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await heading(page, 'Sign in');
  expect(new URL(page.url()).origin).toBe(gateway.http);
  // The provider has forgotten the person, too.
  await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
  await page.locator('input[name=login]').waitFor();
  await browser.closePage(page);
});

test('who may not come in is told why', async () => {
  const page = await browser.open(gateway, { path: '/ops' });
  await signOn(page, 'non');
  await page.getByRole('alert').getByText('You have no role on this gateway.').waitFor();
  await expectAccessible(page);
  await browser.closePage(page);
});

test('a person lets the command line in, which acts as them until it logs out', async () => {
  using home = new TestHome();
  const target = ['--api-url', gateway.http];
  await using login = home.start(['login', '--sso', ...target], { keepInputOpen: true });
  await login.says(/cli-login\?\S+/, 'stderr');
  const [link = ''] = /http:\S+cli-login\?\S+/.exec(login.stderr) ?? [];
  const page = await browser.open(gateway, { path: link.slice(gateway.http.length) });
  await signOn(page, 'ada');
  await heading(page, 'Let a command in');
  await page.getByRole('strong').getByText('ada@example.com').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Let it in' }).click();
  await page.getByText('You are signed in. You can close this window.').waitFor();
  await login.ended();
  expect(login.exit()).toMatchObject({ code: 0 });
  expect(login.stdout).toContain('scopes: read, write, admin');
  expect(login.stdout + login.stderr).not.toMatch(/rvr_\w|rvl_|eyJ/);

  expect((await home.run(['agents', 'list', ...target])).code).toBe(0);
  const [name = '', session] = Object.entries(home.sessions())[0] ?? [];
  // The next commands find the token expired. Each refresh token works once, and both commands go on.
  home.writeCredentials({ sessions: { [name]: { ...session, expires_at: 1 } } });
  const runs = await Promise.all([1, 2].map(() => home.run(['keys', 'list', ...target])));
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(home.sessions()[name]?.source_key).not.toBe(session?.source_key);
  expect((await home.run(['whoami', ...target])).stdout).toContain('rvr_…');

  const { token } = home.sessions()[name] ?? { token: '' };
  expect((await gateway.api.get('/api/v1/auth/me', token)).status).toBe(200);
  expect((await home.run(['logout', ...target])).stdout).toContain('Logged out');
  expect((await gateway.api.get('/api/v1/auth/me', token)).status).toBe(401);
  await browser.closePage(page);
});
