import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import { expectAccessible, registerOwner, scrollsSideways, signIn, TestBrowser } from '../harness/browser.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { NetworkLink } from '../harness/network-link.ts';
import { Person } from '../harness/person.ts';

const phone = { width: 390, height: 844 };
/** Many sign-ins from one address. */
const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' };

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({ env, policies: { 'test.yaml': allowAll } });
  owner = await registerOwner(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

async function signedIn(options: Parameters<TestBrowser['open']>[1] = {}): Promise<Page> {
  const page = await browser.open(gateway, options);
  await signIn(page, owner);
  return page;
}

async function becomesLive(page: Page): Promise<void> {
  await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
}

function pageOf(page: Page): string {
  const { pathname, search } = new URL(page.url());
  return `${pathname}${search}`;
}

describe('the shell', () => {
  test('a person signs in with email and password, sees that all is live, and goes through the pages', async () => {
    const page = await signedIn();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await becomesLive(page);
    for (const name of ['Operations', 'Approvals', 'Topology', 'People', 'Audit', 'Budgets', 'Policies', 'Identity']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      const heading = page.getByRole('heading', { level: 1, name });
      await heading.waitFor();
      expect(await page.title()).toBe(`${await heading.textContent()} · Reeve`);
    }
    await browser.closePage(page);
  });

  test('a wrong password says so in words and signs nobody in', async () => {
    const page = await browser.open(gateway);
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill('not the password at all');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /password/i })
      .waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await browser.closePage(page);
  });

  test('the theme is the system’s until another is chosen, which stays', async () => {
    const page = await signedIn({ theme: 'dark' });
    const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
    expect(await theme()).toBe('dark');
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menuitemradio', { name: 'Light' }).click();
    expect(await theme()).toBe('light');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await theme()).toBe('light');
    await browser.closePage(page);
  });

  test('a mistyped address gets a page with status 404 that looks like the rest, and leads home', async () => {
    for (const path of ['/opps', '/ops/nothing']) {
      const page = await browser.open(gateway);
      const answer = await page.goto(`${gateway.http}${path}`);
      expect(answer?.status()).toBe(404);
      await page.getByText('Nothing is at this address').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Go to the overview' }).click();
      await page.getByLabel('Email').waitFor();
      await browser.closePage(page);
    }
  });

  test('Ctrl-K opens the palette, which finds pages, and an id leads to its operation', async () => {
    const page = await signedIn();
    const field = page.getByRole('combobox', { name: /Find a page/ });
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type('budg');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('some-trace:some-span');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/ops\?op=some-trace/);
    await browser.closePage(page);
  });

  test('the keyboard goes to pages, lists what it can do, and skips to the page', async () => {
    const page = await signedIn({ path: '/budgets' });
    await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByRole('heading', { level: 1, name: 'Identity' }).waitFor();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await list.getByText('Command palette').waitFor();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Identity' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await browser.closePage(page);
  });

  test.each(['light', 'dark'] as const)('is accessible in the %s theme, its dialogs and menus too', async (theme) => {
    const page = await browser.open(gateway, { theme });
    await page.getByLabel('Email').waitFor();
    await expectAccessible(page);
    await signIn(page, owner);
    await becomesLive(page);
    await expectAccessible(page);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Find a page/ }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('fits a phone: nothing scrolls sideways, the bar below has the pages', async () => {
    const page = await browser.open(gateway, { viewport: phone });
    await page.getByLabel('Email').waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await signIn(page, owner);
    const bar = page.getByRole('navigation', { name: 'Pages' }).filter({ visible: true });
    await bar.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    expect(await scrollsSideways(page)).toBe(false);
    await bar.getByRole('button', { name: 'More' }).click();
    await page.getByRole('dialog', { name: 'Pages' }).getByRole('link', { name: 'Policies' }).click();
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    await expectAccessible(page);
    await browser.closePage(page);
  });

  test('what somebody smuggles into the page does not run', async () => {
    const page = await signedIn();
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken over"';
      const style = document.createElement('style');
      style.textContent = 'body { display: none }';
      document.body.append(script, style);
    });
    const told = await eventually(() => {
      const faults = browser.takeFaults();
      expect(faults.length).toBeGreaterThan(0);
      return faults.join();
    });
    expect(told).toMatch(/script-src|style-src/);
    await expect.poll(() => page.title()).toBe('Overview · Reeve');
    expect(await page.evaluate(() => getComputedStyle(document.body).display)).not.toBe('none');
    await page.close();
    browser.takeFaults();
  });

  test('says since when it is not up to date, and is live again when the gateway can be reached', async () => {
    await using link = await NetworkLink.to(gateway);
    const page = await browser.open(link);
    await signIn(page, owner);
    await becomesLive(page);
    const connection = page.getByRole('status', { name: 'Connection' });
    link.cut();
    await connection.getByText('Reconnecting').waitFor();
    await connection.getByText('not up to date since').waitFor();
    await connection.getByText('Offline').waitFor();
    link.mend();
    await becomesLive(page);
    await browser.closePage(page);
  });
});

describe('the session', () => {
  test('a second tab is signed in at once, and signing out in one signs out the other', async () => {
    const first = await signedIn({ path: '/audit' });
    const second = await browser.open(gateway, { besides: first, path: '/budgets' });
    await second.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await second.getByRole('button', { name: 'Account' }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    await first.getByText('You are signed out.').waitFor();
    await second.getByText('You are signed out.').waitFor();
    await first.reload();
    await first.getByLabel('Email').waitFor();
    await first.close();
    await browser.closePage(second);
  });

  test('a tab that hears of a sign-out from the gateway first says that it was one, and leads nobody back', async () => {
    const first = await signedIn({ path: '/audit' });
    await becomesLive(first);
    const second = await browser.open(gateway, { besides: first, path: '/budgets' });
    await second.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await second.route('**/auth/logout', async (route) => {
      const response = await route.fetch();
      await first.getByLabel('Email').waitFor();
      await route.fulfill({ response });
    });
    const answered = second.waitForEvent('requestfinished', (request) => request.url().endsWith('/auth/logout'));
    await second.getByRole('button', { name: 'Account' }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    await answered;
    for (const page of [first, second]) {
      await page.getByText('You are signed out.').waitFor();
      expect(pageOf(page)).toBe('/sign-in');
    }
    await first.close();
    await browser.closePage(second);
  });

  test('a page that is loaded again, and again at once, stays signed in', async () => {
    const page = await signedIn({ path: '/budgets' });
    for (let i = 0; i < 5; i++) {
      // The page is left while the gateway issues the next cookie.
      const asked = page.waitForRequest(/auth\/refresh$/);
      await page.reload({ waitUntil: 'commit' });
      await asked;
    }
    await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await browser.closePage(page);
  });

  test('a session that is ended elsewhere leads to the sign-in, which says so and comes back to the page', async () => {
    const page = await signedIn({ path: '/ops?state=running' });
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    await becomesLive(page);
    const elsewhere = new Person(gateway);
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
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    expect(pageOf(page)).toBe('/ops?state=running');
    await browser.closePage(page);
  });

  test('after the sign-in nobody is led to another site', async () => {
    const page = await browser.open(gateway, { path: `/sign-in?next=${encodeURIComponent('//evil.example/')}` });
    await signIn(page, owner);
    expect([new URL(page.url()).origin, pageOf(page)]).toEqual([gateway.http, '/']);
    await browser.closePage(page);
  });

  test('tokens that last seconds are replaced in all tabs without anybody noticing', async () => {
    await using own = await TestGateway.start({ env: { ...env, SVC_ACCESS_TOKEN_TTL_SECS: '3' } });
    const person = await registerOwner(own);
    const first = await browser.open(own);
    await signIn(first, person);
    const second = await browser.open(own, { besides: first, path: '/budgets' });
    await second.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    const refreshes: number[] = [];
    first.context().on('response', (response) => {
      if (response.url().endsWith('/auth/refresh')) refreshes.push(response.status());
    });
    await eventually(() => expect(refreshes.filter((status) => status === 200).length).toBeGreaterThanOrEqual(3));
    for (const page of [first, second]) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Audit' }).click();
      await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    }
    await first.close();
    await browser.closePage(second);
  });

  test('the access token is nowhere that outlives the page', async () => {
    const page = await signedIn();
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]),
    );
    expect(kept).not.toMatch(/eyJ|rvk_/);
    await browser.closePage(page);
  });
});

describe('without an account store', () => {
  test('an API key signs in, is not kept, and people are told when its token ends', async () => {
    await using own = await TestGateway.start({ env: { SVC_TOKEN_TTL_SECS: '6' }, args: ['--database', 'memory:'] });
    const page = await browser.open(own, { path: '/audit' });
    await page.getByText('This gateway has no account store').waitFor();
    await page.getByLabel('API key').fill('rvk_nonsense');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill(bootstrapKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    await page.getByText('This session ends in').waitFor();
    await page.getByText('The token of your API key has expired.').waitFor();
    expect(pageOf(page)).toBe('/sign-in?next=%2Faudit');
    await browser.closePage(page);
  });
});
