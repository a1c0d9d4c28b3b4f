import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn, TestBrowser } from '../harness/browser.ts';
import { endWithUs } from '../harness/end-with-us.ts';
import { eventually } from '../harness/eventually.ts';
import { password } from '../harness/person.ts';
import { freePort } from '../harness/postgres.ts';

const data = mkdtempSync(join(tmpdir(), 'reeve-dev-'));
let browser: TestBrowser;
let http: string;
let dev: ReturnType<typeof spawn>;

beforeAll(async () => {
  const [port, gateway] = [await freePort(), await freePort()];
  http = `http://127.0.0.1:${port}`;
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'NODE_ENV');
  dev = spawn('node_modules/.bin/node', ['scripts/dev.ts', '--data', data, '--grpc', '127.0.0.1:0'], {
    env: {
      ...Object.fromEntries(inherited),
      REEVE_DEV_PORT: String(port),
      REEVE_DEV_GATEWAY: `127.0.0.1:${gateway}`,
    },
    stdio: 'ignore',
  });
  endWithUs(dev);
  browser = await TestBrowser.launch();
  await eventually(async () => expect((await fetch(`${http}/readyz`)).status).toBe(200), 600);
});

afterAll(async () => {
  await browser.close();
  const closed = once(dev, 'close');
  dev.kill('SIGTERM');
  await closed;
  rmSync(data, { recursive: true });
});

test('npm run dev serves the sources of the dashboard before a gateway: API, sign-in and events go through', async () => {
  expect(await (await fetch(http)).text()).toContain('/@vite/client');
  const owner = { email: 'owner@example.com', password };
  const made = await fetch(`${http}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  });
  expect(made.status).toBe(201);
  const page = await browser.open({ http });
  await signIn(page, owner);
  await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor({ timeout: 30_000 });
  await page.close();
  browser.takeFaults();
});
