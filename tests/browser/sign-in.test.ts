import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, scrollsSideways, signIn, TestBrowser } from '../harness/browser.ts';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { MailRelay } from '../harness/mail-relay.ts';
import { password, Person } from '../harness/person.ts';

const phone = { width: 390, height: 844 };
const owner = { email: 'olga@example.com', password };
const member = { email: 'mia@example.com', password: 'five calm rivers east' };

let browser: TestBrowser;
let relay: MailRelay;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  relay = await MailRelay.start();
  gateway = await TestGateway.start({
    env: {
      SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
      SVC_SMTP_HOST: '127.0.0.1',
      SVC_SMTP_PORT: String(relay.port),
      SVC_LOCKOUT_ATTEMPTS: '2',
      SVC_LOCKOUT_SECS: '12',
      SVC_ACCESS_TOKEN_TTL_SECS: '8',
    },
  });
});

afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
  await relay.close();
});

/** The link of an email, as a person would open it. */
function linkTo(email: string, kind: 'invite' | 'reset'): Promise<string> {
  return eventually(() => {
    const text = relay.letters.findLast(({ to, text: words }) => to === email && words.includes(`/${kind}#`))?.text;
    const link = /\bhttp:\S+#token=\S+/.exec(text ?? '')?.[0];
    if (link === undefined) throw new Error(`there is no letter with a link to ${kind} for ${email}`);
    return link;
  });
}

const signedIn = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).filter({ visible: true }).waitFor();
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

/** Whether the page or its URL contains a secret, field attributes included. */
const shows = async (page: Page, secret: string) => `${page.url()} ${await page.content()}`.includes(secret);

/** Runs `reeve login --sso` to the link, and to its end once the browser has let it in. */
async function letIn(home: TestHome, at: TestGateway, signIn: (page: Page) => Promise<void>): Promise<string> {
  await using login = home.start(['login', '--sso', '--api-url', at.http], { keepInputOpen: true });
  await login.says(/cli-login\?\S+/, 'stderr');
  const [link = ''] = /http:\S+cli-login\?\S+/.exec(login.stderr) ?? [];
  const page = await browser.open(at, { path: link.slice(at.http.length) });
  await signIn(page);
  await page.getByRole('button', { name: 'Let it in' }).click();
  await page.getByText('You are signed in. You can close this window.').waitFor();
  await login.ended();
  expect(login.exit()).toMatchObject({ code: 0 });
  await browser.closePage(page);
  return login.stdout;
}

test('on a fresh gateway the command line is let in by the account that is made for it, and by one that was invited', async () => {
  await using fresh = await TestGateway.start({ env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' } });
  using home = new TestHome();
  const told = await letIn(home, fresh, async (page) => {
    await heading(page, 'Create the owner account');
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await page.getByRole('button', { name: 'Create the account' }).click();
  });
  expect(told).toContain('scopes: read, write, admin');
  const invite = { email: member.email, role: 'viewer' };
  const made = await fresh.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, invite);
  const accepting = await browser.open(fresh, { path: `/invite#token=${made.body.token}` });
  await accepting.getByLabel('Password', { exact: true }).fill(member.password);
  await accepting.getByRole('button', { name: 'Accept and sign in' }).click();
  await signedIn(accepting);
  using second = new TestHome();
  const seen = await letIn(second, fresh, (page) => signIn(page, member));
  expect(seen).toContain('scopes: read;');
  expect((await second.run(['agents', 'list', '--api-url', fresh.http])).code).toBe(0);
  await browser.closePage(accepting);
});

describe('from an empty store to the first members', () => {
  test('the first person becomes the owner, invites the second, and that one accepts', async () => {
    const page = await browser.open(gateway, { path: '/audit' });
    await heading(page, 'Create the owner account');
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Name (optional)').fill('Olga Owner');
    const field = page.getByLabel('Password', { exact: true });
    await field.fill('seven');
    await page.getByText('At least 12 characters (5 so far)').waitFor();
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('alert').getByText('at least 12 characters').waitFor();
    // Only the gateway knows the common passwords.
    await field.fill('password1234');
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('alert').getByText('among the first that anyone would try').waitFor();
    await field.fill(password);
    expect(await shows(page, password)).toBe(false);
    await page.getByRole('button', { name: 'Create the account' }).click();
    await heading(page, 'Audit');

    await page.goto('/identity?tab=invites');
    await page.getByRole('button', { name: 'Invite someone' }).click();
    await page.getByRole('dialog').getByLabel('Email').fill(member.email);
    await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
    const link = (await page.getByRole('dialog').getByText('/invite#token=').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('cell', { name: member.email, exact: true }).waitFor();
    expect(await shows(page, link)).toBe(false);

    const other = await browser.open(gateway, { path: new URL(link).pathname + new URL(link).hash });
    await other.getByLabel('Password', { exact: true }).fill(member.password);
    expect(other.url()).toBe(`${gateway.http}/invite`);
    await other.getByLabel('Name (optional)').fill('Mia Member');
    await other.getByRole('button', { name: 'Accept and sign in' }).click();
    await signedIn(other);
    await other.getByRole('button', { name: 'Account: Mia Member' }).waitFor();

    // The link is used up, and nobody else can register with it.
    const late = await browser.open(gateway, { path: new URL(link).pathname + new URL(link).hash });
    await late.getByLabel('Password', { exact: true }).fill(password);
    await late.getByRole('button', { name: 'Accept and sign in' }).click();
    await late.getByRole('alert').getByText('This invite does not work').waitFor();
    await late.goto('/sign-in?by=registration');
    await late.getByLabel('Email').fill('late@example.com');
    await late.getByLabel('Password', { exact: true }).fill(password);
    await late.getByRole('button', { name: 'Create the account' }).click();
    await late.getByText('This gateway has an owner already.').waitFor();
    for (const each of [page, other, late]) await browser.closePage(each);
  });

  test('a token that ended while the tab was frozen in the background is replaced, and nobody is signed out', async () => {
    const page = await browser.open(gateway, { path: '/budgets' });
    const answered = page.waitForResponse(/auth\/login$/);
    await signIn(page, owner);
    const { access_token: token } = (await (await answered).json()) as { access_token: string };
    await heading(page, 'Budgets');
    const debug = await page.context().newCDPSession(page);
    await debug.send('Page.setWebLifecycleState', { state: 'frozen' });
    await eventually(async () => {
      expect((await gateway.api.get('/api/v1/auth/me', token)).status).toBe(401);
    });
    await debug.send('Page.setWebLifecycleState', { state: 'active' });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Identity' }).click();
    await page.getByRole('table', { name: 'Members' }).getByText(member.email).waitFor();
    await browser.closePage(page);
  });
});

describe('people who cannot get in', () => {
  test('a wrong password says so, a locked email for how long, and when it may be tried again', async () => {
    const page = await browser.open(gateway);
    // Nobody has this email. It locks in the same way.
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not the right words');
    const button = page.getByRole('button', { name: 'Sign in' });
    const lock = async () => {
      for (let i = 0; i < 2; i++) {
        const answered = page.waitForResponse(/auth\/login$/);
        await button.click();
        expect((await answered).status()).toBe(401);
        await page.getByRole('alert').getByText('The email or the password is wrong.').waitFor();
      }
      await button.click();
      await page.getByRole('alert').getByText('this email is locked for a while').waitFor();
    };
    await lock();
    await page.getByText(/Try again in \d/).waitFor();
    expect(await button.isDisabled()).toBe(true);
    await page.getByText('You may try again now.').waitFor();
    expect(await button.isEnabled()).toBe(true);
    // Another email is not locked.
    await lock();
    await page.getByLabel('Email').fill('somebody@example.com');
    expect(await button.isEnabled()).toBe(true);
    await browser.closePage(page);
  });

  test('who has forgotten the password is sent a link, which works once; the answer tells nobody who has an account', async () => {
    const page = await browser.open(gateway, { path: '/sign-in' });
    await page.getByRole('link', { name: 'Forgot the password?' }).click();
    const ask = async (email: string) => {
      await page.goto('/forgot');
      await page.getByLabel('Email').fill(email);
      await page.getByRole('button', { name: 'Send the link' }).click();
      const said = page.getByRole('status').filter({ hasText: 'If there is an account' });
      return (await said.textContent())?.replace(email, '…');
    };
    expect(await ask(member.email)).toBe(await ask('nobody@example.com'));
    const link = await linkTo(member.email, 'reset');
    await page.goto(link);
    const next = 'nine slow clouds west';
    await page.getByLabel('New password').fill(next);
    expect(page.url()).toBe(`${gateway.http}/reset`);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is changed').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await signIn(page, { email: member.email, password: next });
    await page.goto(link);
    await page.getByLabel('New password').fill('ten slow clouds north');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('alert').getByText('This link does not work').waitFor();
    await page.getByRole('link', { name: 'Ask for a new link' }).waitFor();
    await browser.closePage(page);
  });

  test('too many tries from one address are told when the next one counts', async () => {
    await using strict = await TestGateway.start({ env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '1' } });
    await new Person(strict).post('password/reset', { email: 'a@example.com' });
    const page = await browser.open(strict, { path: '/forgot' });
    await page.getByLabel('Email').fill('a@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('alert').getByText('Too many tries from your address.').waitFor();
    await page.getByText(/Try again in \d/).waitFor();
    await browser.closePage(page);
  });
});

test('without an account store a key signs in; a typing mistake in it shows without asking anybody', async () => {
  await using bare = await TestGateway.start({ args: ['--database', 'memory:'] });
  const page = await browser.open(bare, { path: '/identity' });
  await page.getByText('This gateway has no account store').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const field = page.getByLabel('API key');
  await field.fill(`${bootstrapKey.slice(0, -1)}9`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('Its checksum does not fit').waitFor();
  await field.fill(bootstrapKey.slice(0, -3));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('was it copied whole?').waitFor();
  expect(asked).not.toContain('/api/v1/auth/token');
  await field.fill(bootstrapKey);
  expect(await shows(page, bootstrapKey)).toBe(false);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await heading(page, 'Identity');
  // Without accounts there are neither members nor sessions.
  const tabs = page.getByRole('tab');
  await tabs.first().waitFor();
  expect(await tabs.allTextContents()).toEqual(['API keys', 'This key']);
  await browser.closePage(page);
});

test.each(['light', 'dark'] as const)('all pages before the sign-in are accessible on a phone, %s', async (theme) => {
  const page = await browser.open(gateway, { viewport: phone, theme, path: '/sign-in' });
  const places: readonly (readonly [path: string, label: string])[] = [
    ['/sign-in', 'Password'],
    ['/sign-in?by=key', 'API key'],
    ['/sign-in?by=registration', 'Password'],
    ['/forgot', 'Email'],
    ['/reset#token=rvr_x', 'New password'],
    ['/invite#token=rvi_x', 'Password'],
  ];
  for (const [path, label] of places) {
    await page.goto(path);
    await page.getByLabel(label, { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await scrollsSideways(page), path).toBe(false);
  }
  await page.goto('/reset');
  await page.getByText('This page needs the link in the letter.').waitFor();
  await browser.closePage(page);
});
