// Pictures of every page of the dashboard, at the width of a laptop and of a phone, light and dark, from the demo.
//
//   npm run screenshots -- [FOLDER]        default: screenshots; docs/images holds the few that the docs show
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { buildDashboard } from './build-dashboard.ts';
import { findChromium } from './find-chromium.ts';

interface Demo {
  readonly http: string;
  readonly email: string;
  readonly password: string;
}

const pages = {
  overview: '/',
  operations: '/ops',
  approvals: '/approvals',
  topology: '/topology',
  audit: '/audit',
  budgets: '/budgets',
  policies: '/policies',
  people: '/people',
  runs: '/runs',
  identity: '/identity',
  connect: '/connect',
};
const widths = { laptop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const themes = ['light', 'dark'] as const;
/** How long the demo's agents work before the first picture, and how long a page may load. */
const warmUpMs = 20_000;
const settleMs = 2500;

const folder = process.argv[2] ?? 'screenshots';
mkdirSync(folder, { recursive: true });
buildDashboard();
const args = ['demo', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--output', 'json'];
const child = spawn('node_modules/.bin/reeve', args, { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const demo = JSON.parse(line.toString()) as Demo;
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('there is no Chromium; install the package chromium');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  await sleep(warmUpMs);
  for (const theme of themes) {
    for (const [name, viewport] of Object.entries(widths)) await picture(browser, demo, theme, name, viewport);
  }
  await browser.close();
} finally {
  child.kill('SIGINT');
  if (child.exitCode === null) await once(child, 'close');
}

async function picture(
  browser: Browser,
  { http, email, password }: Demo,
  colorScheme: 'light' | 'dark',
  size: string,
  viewport: { width: number; height: number },
): Promise<void> {
  const context = await browser.newContext({ baseURL: http, viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('Email').waitFor();
  await take(page, `sign-in-${size}-${colorScheme}`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).filter({ visible: true }).waitFor();
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(path);
    await sleep(settleMs);
    await take(page, `${name}-${size}-${colorScheme}`);
  }
  await context.close();
}

async function take(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path });
  process.stdout.write(`${path}\n`);
}
