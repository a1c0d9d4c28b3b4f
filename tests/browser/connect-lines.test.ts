import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pythonEnvironment } from '../../scripts/python-environment.ts';
import { registerOwner, signIn, TestBrowser } from '../harness/browser.ts';
import { endWithUs } from '../harness/end-with-us.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { ModelUpstream } from '../harness/model-upstream.ts';

/** The lines of a door by their titles, as its buttons copy them. */
type Copied = ReadonlyMap<string, string>;

const doors = new Map<string, Copied>();
// Inside the checkout, where npx finds the packages that the lines name.
mkdirSync('node_modules/.cache', { recursive: true });
const home = mkdtempSync(resolve('node_modules/.cache/reeve-lines-'));
const env = { PATH: `${resolve('node_modules/.bin')}:${process.env['PATH'] ?? ''}`, HOME: home };
const python = pythonEnvironment();
let gateway: TestGateway;

beforeAll(async () => {
  await using browser = await TestBrowser.launch();
  gateway = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' },
  });
  const owner = await registerOwner(gateway);
  const page = await browser.open(gateway, { path: '/connect' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page, owner);
  await page.getByLabel('Agent', { exact: true }).fill('tried');
  await page.getByLabel('Org').fill('acme');
  await page.getByLabel('Team').fill('core');
  await page.getByRole('button', { name: 'Make its token' }).click();
  await page.getByText('is registered.').waitFor();
  for (const name of await page.getByRole('radio').evaluateAll(labelsOf)) doors.set(name, await copyAll(page, name));
  await browser.closePage(page);
}, 120_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

function labelsOf(radios: readonly (SVGElement | HTMLElement)[]): string[] {
  return radios.map((radio) => radio.closest('label')?.textContent ?? '');
}

async function copyAll(page: Page, door: string): Promise<Copied> {
  await page.getByRole('group', { name: 'How the agent works' }).getByText(door, { exact: true }).click();
  const lines = page.getByRole('list', { name: `Lines for ${door}`, exact: true });
  const copied = new Map<string, string>();
  for (const block of await lines.getByRole('listitem').all()) {
    const title = await block.getByRole('paragraph').first().innerText();
    await page.evaluate("navigator.clipboard.writeText('')");
    await block.getByRole('button').click();
    // The button says so for a moment only, which a busy machine may miss.
    await eventually(async () => expect(await clipboardOf(page)).not.toBe(''));
    copied.set(title, await clipboardOf(page));
  }
  return copied;
}

function clipboardOf(page: Page): Promise<string> {
  return page.evaluate<string>('navigator.clipboard.readText()');
}

function copied(door: string, title: string): string {
  const code = doors.get(door)?.get(title);
  if (code === undefined) throw new Error(`${door} has no lines “${title}”`);
  return code;
}

/** The variables of lines such as `NAME=value`. */
function variables(code: string): Record<string, string> {
  return Object.fromEntries(code.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

const run = promisify(execFile);
const sh = (code: string, more: Readonly<Record<string, string>> = {}) =>
  run('sh', ['-c', code], { env: { ...env, ...more } });

/** How many checks of the agent were allowed. */
async function allowed(): Promise<number> {
  const { body } = await gateway.api.get<{ items: unknown[] }>(
    '/api/v1/logs?agent_id=tried&event_type=ActionAllowed&per_page=1000',
    bootstrapKey,
  );
  return body.items.length;
}

test('every door has lines to copy, with this gateway’s address and the agent’s token', () => {
  expect(doors.size).toBeGreaterThan(15);
  for (const [door, lines] of doors) {
    const all = [...lines.values()].join('\n');
    expect(all, door).toContain(gateway.grpc);
    expect(all, door).toMatch(/rva_[\w-]{43}/);
  }
});

test.each(['TypeScript', 'LangChain, LangGraph', 'OpenAI Agents', 'AI SDK'])(
  'the program for %s asks and ends',
  async (door) => {
    const before = await allowed();
    const token = variables(copied(door, 'Give the agent its token, in its environment'));
    const code = copied(door, 'Ask before each action');
    await run('node', ['--input-type=module', '-e', code], { env: { ...env, ...token } });
    expect(await allowed()).toBe(before + 1);
  },
);

test.runIf('python' in python)('the program for Python asks and ends', async () => {
  const before = await allowed();
  const token = variables(copied('Python', 'Give the agent its token, in its environment'));
  const more = { ...token, PYTHONPATH: resolve('clients/python/src') };
  const program = 'python' in python ? python.python : '';
  const { stdout } = await run(program, ['-c', copied('Python', 'Ask before each action')], {
    env: { ...env, ...more },
  });
  expect(stdout).toBe('searching\n');
  expect(await allowed()).toBe(before + 1);
});

test('the call for other languages is answered', async () => {
  const { stdout } = await sh(copied('Other languages', 'Ask before each action'));
  expect(JSON.parse(stdout)).toMatchObject({ decision: 'ALLOW', opState: 'running' });
});

/** A proxy by its line, on a free port. */
async function serve(line: string, more: Readonly<Record<string, string>>): Promise<[ChildProcess, string]> {
  const free = line.replace(/--http 127\.0\.0\.1:\d+/, '--http 127.0.0.1:0');
  const child = spawn('sh', ['-c', `exec ${free}`], { cwd: home, env: { ...env, ...more } });
  endWithUs(child);
  const [said] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return [child, (JSON.parse(said) as { http: string }).http];
}

test.each(['OpenAI-compatible', 'Anthropic'])(
  'a call of a model through the proxy for %s is asked for',
  async (door) => {
    const upstream = await ModelUpstream.start();
    const config = copied(door, 'Name the provider in models.yaml');
    writeFileSync(join(home, 'models.yaml'), config.replace(/https:\/\/api\.\w+\.com/, upstream.url));
    const [, key = ''] = /api_key_env: (\w+)/.exec(config) ?? [];
    const [proxy, url] = await serve(copied(door, 'Start the proxy'), { [key]: 'sk-of-the-provider' });
    try {
      const before = await allowed();
      const variablesOfAgent = copied(door, 'Give the agent this environment').replace(
        /http:\/\/127\.0\.0\.1:\d+/,
        url,
      );
      const { stdout } = await sh(copied(door, 'Try it in that environment'), variables(variablesOfAgent));
      expect(JSON.parse(stdout)).toMatchObject({ usage: expect.anything() });
      expect(JSON.stringify(upstream.last.headers)).toContain('sk-of-the-provider');
      await eventually(async () => expect(await allowed()).toBe(before + 1));
    } finally {
      proxy.kill();
      await once(proxy, 'close');
      await upstream[Symbol.asyncDispose]();
    }
  },
);

interface Configured {
  readonly mcpServers: {
    readonly files: {
      readonly command: string;
      readonly args: string[];
      readonly env: Record<string, string>;
      readonly url: string;
      readonly headers: Record<string, string>;
    };
  };
}

async function listFiles(transport: StdioClientTransport | StreamableHTTPClientTransport): Promise<string> {
  const client = new Client({ name: 'tried', version: '1.0.0' });
  await client.connect(transport);
  const result = await client.callTool({ name: 'list_allowed_directories', arguments: {} });
  await client.close();
  return JSON.stringify(result);
}

test('an MCP client that starts the server by its configuration is asked for', async () => {
  const before = await allowed();
  const configuration = copied('MCP, stdio', 'Put this into the configuration of the MCP client');
  const { files } = (JSON.parse(configuration) as Configured).mcpServers;
  const transport = new StdioClientTransport({ ...files, env: { ...env, ...files.env } });
  expect(await listFiles(transport)).toContain('Allowed directories');
  expect(await allowed()).toBe(before + 1);
});

test('an MCP client of the proxy over HTTP is asked for', async () => {
  const door = 'MCP over HTTP';
  writeFileSync(join(home, 'mcp.yaml'), copied(door, 'Name the servers in mcp.yaml'));
  const [proxy, url] = await serve(copied(door, 'Start the proxy'), {});
  try {
    const before = await allowed();
    const configuration = copied(door, 'Put this into the configuration of the MCP client');
    const { files } = (JSON.parse(configuration) as Configured).mcpServers;
    const at = new URL(new URL(files.url).pathname, url);
    const transport = new StreamableHTTPClientTransport(at, { requestInit: { headers: files.headers } });
    expect(await listFiles(transport)).toContain('Allowed directories');
    expect(await allowed()).toBe(before + 1);
  } finally {
    proxy.kill();
    await once(proxy, 'close');
  }
});

test.each([
  ['Claude Code', '.claude/settings.json'],
  ['Codex', '.codex/hooks.json'],
  ['Cursor', '.cursor/hooks.json'],
  ['Gemini CLI', '.gemini/settings.json'],
])('the lines for %s install its hook', async (door, file) => {
  const kept = sh(copied(door, 'Make a file for the token that only you can read'));
  kept.child.stdin?.end(`${copied(door, 'Paste the token there, then press Enter and Ctrl D')}\n`);
  await kept;
  await sh(copied(door, 'Install the hook'));
  expect(readFileSync(join(home, file), 'utf8')).toContain(gateway.grpc);
});
