import axe from 'axe-core';
import type { Browser, BrowserContext, ConsoleMessage, Locator, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { expect } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { findChromium } from '../../scripts/find-chromium.ts';
import type { TestGateway } from './gateway.ts';
import { password, Person } from './person.ts';

export interface PageOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly theme?: 'light' | 'dark';
  /** The first path to open. */
  readonly path?: string;
  /** The browser of another page, with its cookies. The new page is a second tab. */
  readonly besides?: Page;
}

/** A gateway, or a link to one. */
type Served = Pick<TestGateway, 'http'>;

export interface Login {
  readonly email: string;
  readonly password: string;
}

/** Long enough for a busy machine. No test asserts how long anything takes. */
const patienceMs = 20_000;

/** The browser's log line for an error answer. The test decides whether the error is right. */
const refusedAnswer = /Failed to load resource: the server responded with a status of \d+/;

// Code for the browser is text here, because the compiler knows only Node's globals.
const reportViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber, columnNumber }) =>
  console.error('CSP violated: ' + violatedDirective + ' by ' + blockedURI + ' at ' + sourceFile + ':' + lineNumber + ':' + columnNumber))`;
const runAxe = `axe.run(document, {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  resultTypes: ['violations'],
})`;
const isWiderThanWindow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

/** A real Chromium, one per test file, against a real gateway. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly #contexts = new Set<BrowserContext>();
  readonly #faults: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Builds the dashboard first if it is out of date. Start the gateway that serves it after this. */
  static async launch(): Promise<TestBrowser> {
    buildDashboard();
    const executablePath = findChromium();
    if (executablePath === undefined) throw new Error('there is no Chromium; install the package chromium');
    // Root has no sandbox, and a container has little shared memory. Without the limit, each profile starts a process
    // for a page that never comes.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--renderer-process-limit=1'];
    return new TestBrowser(await chromium.launch({ executablePath, args, timeout: 60_000 }));
  }

  /** Opens a page in its own browser profile, or as a second tab beside another page. */
  async open(gateway: Served, options: PageOptions = {}): Promise<Page> {
    const { viewport = { width: 1280, height: 800 }, theme = 'light', path = '/', besides } = options;
    const context = besides?.context() ?? (await this.#newContext(gateway, viewport, theme));
    const page = await context.newPage();
    await page.goto(path);
    return page;
  }

  /** The faults on the pages since the last call: console errors, exceptions, CSP violations. */
  takeFaults(): string[] {
    return this.#faults.splice(0);
  }

  /** Closes the page, and the profile if it was alone in it. Fails if anything went wrong on the page. */
  async closePage(page: Page): Promise<void> {
    const context = page.context();
    await page.close();
    if (context.pages().length === 0) await context.close();
    expect(this.takeFaults(), 'faults in the browser').toEqual([]);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#contexts].map((context) => context.close()));
    await this.#browser.close();
    expect(this.takeFaults(), 'faults in the browser').toEqual([]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #newContext(gateway: Served, viewport: NonNullable<PageOptions['viewport']>, theme: 'light' | 'dark') {
    const context = await this.#browser.newContext({
      baseURL: gateway.http,
      viewport,
      colorScheme: theme,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    });
    context.setDefaultTimeout(patienceMs);
    context.on('console', (message) => this.#listen(message));
    context.on('weberror', (fault) => this.#faults.push(`uncaught: ${String(fault.error())}`));
    await context.addInitScript(reportViolations);
    this.#contexts.add(context);
    context.on('close', () => this.#contexts.delete(context));
    return context;
  }

  #listen(message: ConsoleMessage): void {
    if (message.type() !== 'error' || refusedAnswer.test(message.text())) return;
    // Many tests stop the gateway or cut the network.
    if (/net::ERR_|WebSocket connection to/.test(message.text())) return;
    this.#faults.push(message.text());
  }
}

/** The first account of the gateway, which owns it. */
export async function registerOwner(gateway: TestGateway, email = 'owner@example.com'): Promise<Login> {
  const { status } = await new Person(gateway).register(email, { name: 'Olga Owner' });
  expect(status).toBe(201);
  return { email, password };
}

/** Signs in with the form, as a person does, and waits for the page behind it. */
export async function signIn(page: Page, login: Login, options: { readonly remember?: boolean } = {}): Promise<void> {
  if (new URL(page.url()).pathname !== '/sign-in') await page.waitForURL(/\/sign-in/);
  await page.getByLabel('Email').fill(login.email);
  await page.getByLabel('Password', { exact: true }).fill(login.password);
  if (options.remember === true) await page.getByLabel(/Stay signed in/).check();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).filter({ visible: true }).waitFor();
}

/** Signs in with an API key, for tenants or read-only access. The token does not survive a reload. */
export async function signInByKey(page: Page, key: string): Promise<void> {
  if (new URL(page.url()).pathname !== '/sign-in') await page.waitForURL(/\/sign-in/);
  await page.getByRole('button', { name: 'Use an API key' }).click();
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).filter({ visible: true }).waitFor();
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
  }[];
}

/** Checks the page against WCAG 2.2 AA, as far as a program can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  // Through the debugger, which the CSP does not affect.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResult>(runAxe);
  const told = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}\n  ${target.join(' ')}\n  ${failureSummary ?? ''}`),
  );
  expect(told, 'what axe found').toEqual([]);
}

/** Whether the page scrolls sideways, which it never should. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(isWiderThanWindow);
}

/** The visible toast. The same words are also in the region for screen readers. */
export function noticeOf(page: Page, text: string | RegExp): Locator {
  return page.getByRole('region', { name: 'Notifications' }).getByText(text);
}
