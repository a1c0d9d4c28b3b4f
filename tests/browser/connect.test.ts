import { ActionType, Via_Door as Door } from '@reeve/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Login } from '../harness/browser.ts';
import {
  expectAccessible,
  registerOwner,
  scrollsSideways,
  signIn,
  signInByKey,
  TestBrowser,
} from '../harness/browser.ts';
import { makeKey } from '../harness/credentials.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

let browser: TestBrowser;
let gateway: TestGateway;
let owner: Login;

beforeAll(async () => {
  browser = await TestBrowser.launch();
  gateway = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' },
  });
  owner = await registerOwner(gateway);
});
afterAll(async () => {
  await browser.close();
  await gateway[Symbol.asyncDispose]();
});

async function open(path: string, options: Parameters<TestBrowser['open']>[1] & { readonly key?: string } = {}) {
  const { key, ...rest } = options;
  const page = await browser.open(gateway, { path, ...rest });
  if (key === undefined) await signIn(page, owner);
  else await signInByKey(page, key);
  return page;
}

const lines = (page: Page) => page.getByRole('list', { name: /^Lines for/ });

/** Everything that the browser would keep when the page is left. */
const kept = `JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, history.state])`;

async function tokenIn(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Show the token' }).click();
  const [token] = /rva_[\w-]{43}/.exec((await lines(page).textContent()) ?? '') ?? [];
  if (token === undefined) throw new Error('there is no token in the lines');
  return token;
}

test('by keyboard: choose a door, name the agent, copy its lines, and see its first check arrive', async () => {
  const page = await open('/ops');
  await page.getByRole('link', { name: 'Connect an agent' }).last().click();
  await page.getByRole('heading', { name: 'Connect an agent' }).waitFor();
  await page.getByRole('radio', { name: 'TypeScript' }).focus();
  // The fourth from the end is the hook of Claude Code. The arrows go round.
  for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowLeft');
  expect(await page.getByRole('radio', { name: 'Claude Code' }).isChecked()).toBe(true);
  await page.waitForURL(/door=claude-code/);
  await lines(page).getByText(`--grpc-addr ${gateway.grpc}`).waitFor();

  await page.getByLabel('Agent', { exact: true }).fill('laptop');
  await page.getByLabel('Org').fill('acme');
  await page.getByLabel('Team').fill('platform');
  await page.keyboard.press('Enter');
  await page.getByText('acme/platform/laptop').first().waitFor();
  await page.getByText('Waiting for the first check').waitFor();
  await lines(page).getByText('rva_••••••••••••').waitFor();
  expect(await lines(page).textContent()).not.toMatch(/rva_\w/);
  const token = await tokenIn(page);
  expect(await page.evaluate<string>(kept)).not.toContain(token);
  await expectAccessible(page);

  const id = { orgId: 'acme', teamId: 'platform', agentId: 'laptop' };
  const via = { door: Door.HOOK, name: 'claude-code' };
  await gateway.check({ id, token }, { via, context: toolCall('Bash') });
  await page.getByText('It is connected.').waitFor();
  await page.getByText('by a hook (claude-code)').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Open the operation' }).click();
  await page.getByRole('dialog').getByText('Hook', { exact: true }).waitFor();
  await page.goBack();
  // The page was left, so nobody sees the token any more.
  await page.getByRole('button', { name: 'Make its token' }).waitFor();
  expect(await page.content()).not.toContain(token);
  await browser.closePage(page);
});

test('an agent that exists keeps its token until somebody confirms that it goes', async () => {
  const before = await gateway.register({ agentId: 'busy' });
  await gateway.check(before);
  const page = await open('/connect?door=openai&agent=acme/core/busy');
  await page.getByRole('button', { name: 'Make its token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replace the token of busy?' });
  await dialog.getByText('stops at once').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await gateway.check(before)).toMatchObject({ decision: 1 });
  await page.getByRole('button', { name: 'Make its token' }).click();
  await dialog.getByRole('button', { name: 'Replace its token' }).click();
  await page.getByText('has a new token').waitFor();
  expect(await gateway.check(before)).toMatchObject({ decision: 2 });
  // What it did before is no sign of the new token.
  await page.getByText('Waiting for the first check').waitFor();
  const token = await tokenIn(page);
  expect(await lines(page).textContent()).toContain(`OPENAI_API_KEY=${token}`);
  await gateway.check({ ...before, token }, { traceId: 'n', spanId: '1' });
  await page.getByText('It is connected.').waitFor();
  await browser.closePage(page);
});

test('a viewer sees the lines, and who can make a token; on a phone in the dark theme, too', async () => {
  const { key } = await makeKey(gateway, { scopes: ['read'] });
  const page = await open('/connect?door=mcp-http', { key, theme: 'dark', viewport: { width: 375, height: 700 } });
  await page.getByText('owners, admins and developers').waitFor();
  await lines(page).getByText('Bearer AGENT_TOKEN').waitFor();
  expect(await page.getByRole('button', { name: 'Make its token' }).count()).toBe(0);
  expect(await scrollsSideways(page)).toBe(false);
  await expectAccessible(page);
  await browser.closePage(page);
});

test('an operation shows its door, server, tool, arguments and tokens, and the list filters by door', async () => {
  const agent = await gateway.register({ agentId: 'coder' });
  const secret = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
  const call = toolCall('create_issue', { title: 'Refunds', token: secret });
  if (call.action?.$case !== 'toolCall') throw new Error('it is a tool call');
  const context = { action: { ...call.action, value: { ...call.action.value, toolSource: 'github' } } };
  await gateway.check(agent, { traceId: 'd', spanId: 'mcp', via: { door: Door.MCP, name: 'github' }, context });
  await gateway.check(agent, { traceId: 'd', spanId: 'sdk' });
  const page = await open('/ops?agent_id=coder&door=mcp');
  const rows = page.getByRole('grid', { name: 'Operations' }).getByRole('row');
  await rows.filter({ hasText: 'create_issue' }).getByText('MCP', { exact: true }).waitFor();
  expect(await rows.count()).toBe(2);
  await page.goto('/ops?op=acme/core/coder/d:mcp');
  const drawer = page.getByRole('dialog');
  for (const words of ['Arguments, with secrets replaced', '"Refunds"', 'MCP', 'create_issue']) {
    await drawer.getByText(words).first().waitFor();
  }
  expect(await drawer.getByText('github', { exact: true }).count()).toBeGreaterThan(0);
  expect(await drawer.textContent()).not.toContain(secret);
  await expectAccessible(page);

  const model = { $case: 'llmCall', value: { model: 'gpt-5-mini', promptTokens: 2000, maxOutputTokens: 400 } } as const;
  const via = { door: Door.MODEL, name: 'openai' };
  const actionType = ActionType.LLM_CALL;
  const { opId } = await gateway.check(agent, {
    traceId: 'd',
    spanId: 'llm',
    actionType,
    via,
    context: { action: model },
  });
  await gateway.complete(agent, opId, { inputTokens: 1200, outputTokens: 40, cachedInputTokens: 300 });
  await page.goto('/ops?op=acme/core/coder/d:llm');
  for (const words of ['openai', 'gpt-5-mini', '1,200 in (300 cached), 40 out']) {
    await drawer.getByText(words, { exact: true }).first().waitFor();
  }
  await browser.closePage(page);
});

test('an agent that never asked about model calls has a warning in the table and in its drawer', async () => {
  const agent = await gateway.register({ teamId: 'doors', agentId: 'half' });
  await gateway.check(agent, { via: { door: Door.MCP, name: 'github' } });
  const page = await open('/topology?view=table&team_id=doors');
  const row = page.getByRole('grid', { name: 'Agents' }).getByRole('row').filter({ hasText: 'half' });
  await row.getByText('Model unchecked').waitFor();
  await row.getByText('MCP').waitFor();
  await page.goto('/topology?view=table&team_id=doors&agent=acme/doors/half');
  const drawer = page.getByRole('dialog');
  await drawer.getByText('never a model call').waitFor();
  await drawer.getByText('last used').waitFor();
  await expectAccessible(page);
  await drawer.getByRole('link', { name: 'How to connect it' }).click();
  await page.waitForURL(/\/connect\?.*door=openai/);
  expect(await page.getByLabel('Agent', { exact: true }).inputValue()).toBe('half');
  const { body } = await gateway.api.get<{ uncovered: string[] }>('/api/v1/agents/acme/doors/half', bootstrapKey);
  expect(body.uncovered).toEqual(['model_calls']);
  await browser.closePage(page);
});
