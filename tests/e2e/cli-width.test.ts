import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textWidth } from '../../packages/cli/src/output/text-width.ts';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: house-of-rules-with-a-long-name
default: allow
rules:
  - { name: payments-of-any-amount-to-anybody, effect: require_approval, tools: [pay] }
  - { name: reads, effect: allow, tools: [read], labels: [readings] }
budget: { daily_limit_usd: 1000, org_daily_limit_usd: 100, agent_daily_limit_usd: 10 }
`;
const stored = 'name: stored\nrules: [{ name: reading, effect: allow, tools: [read] }]\n';
const agentId = 'an-agent-with-a-name-of-its-own';
const quietTeam = 'site-reliability-of-the-north';
const runId = 'run-of-the-nightly-import-of-all-invoices-of-the-week';
const opId = 'trace-0123456789abcdef0123456789:span-0123456789abcdef';

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
let approval: string;
let control: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'house.yaml': policy } });
  home = new TestHome();
  home.writeConfig({ current_context: 'here', contexts: { here: { api_url: gateway.http, api_key: bootstrapKey } } });
  env = {};
  const text = 'a long explanation of what this is about, and why '.repeat(3);
  const bot = await gateway.register({ orgId: 'acme-corporation', teamId: 'platform', agentId });
  const [traceId = '', spanId = ''] = opId.split(':');
  await gateway.check(bot, { traceId, spanId, context: toolCall('read', {}), summary: text, runId });
  const held = await gateway.check(bot, { traceId: 'held', spanId: 's', context: toolCall('pay', {}), summary: text });
  approval = held.approvalId;
  const paid = await gateway.check(bot, { traceId: 'paid', spanId: 's', context: toolCall('pay', {}), runId: 'r' });
  const path = `/api/v1/approvals/${paid.approvalId}/approve`;
  await gateway.api.post(path, bootstrapKey, { reason: text, grant: { reach: 'run' } });
  await gateway.api.send('PUT', '/api/v1/policies/stored', { bearer: bootstrapKey, json: { source: stored } });
  const scope = { org_id: 'acme-corporation', team_id: 'platform', agent_id: agentId };
  const { body } = await gateway.api.post<{ control_id: string }>('/api/v1/control', bootstrapKey, {
    action: 'pause',
    scope,
    reason: text,
  });
  control = body.control_id;
  await gateway.register({ orgId: 'acme-corporation', teamId: quietTeam, agentId: 'b' });
  const hold = { org_id: 'acme-corporation', team_id: quietTeam, action: 'pause', reason: text };
  await gateway.api.post('/api/v1/suspensions', bootstrapKey, hold);
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

async function shownAt(columns: number, args: readonly string[]): Promise<string[]> {
  const running = home.startOnTerminal(args, { env, columns });
  await running.ended();
  const text = stripVTControlCharacters(running.stdout).replaceAll('\r', '');
  return text.trimEnd().split('\n');
}

/** Every command that prints a table, with an id that its first row must show whole. */
const lists: readonly (readonly [command: string, id: () => string])[] = [
  ['agents list', () => `acme-corporation/platform/${agentId}`],
  ['ops list', () => opId],
  ['approvals list', () => approval],
  ['approvals grants', () => 'active'],
  ['keys list', () => bootstrapKey.slice(4, 16)],
  ['runs', () => runId],
  ['suspensions', () => quietTeam],
  ['policy list', () => 'house-of-rules-with-a-long-name'],
  ['policy history stored', () => 'in force'],
  ['logs', () => 'ActionAllowed'],
  ['llm prices', () => 'claude-sonnet-4-5-20250929'],
  ['budgets', () => agentId],
  ['cluster', () => 'active'],
  ['context list', () => 'here'],
  ['topology', () => `acme-corporation/platform/${agentId}`],
  [`policy explain ${opId}`, () => 'house-of-rules-with-a-long-name/payments-of-any-amount-to-anybody'],
];

describe('in 80 columns', () => {
  test.each(lists)('reeve %s fits, and its ids are whole', async (command, id) => {
    const lines = await shownAt(80, command.split(' '));
    expect(lines.filter((line) => textWidth(line) > 80)).toEqual([]);
    expect(lines.join('\n')).toContain(id());
    expect(lines.join('\n')).not.toMatch(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*\n.*\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/);
  });

  test('reeve runs show fits, and names its operations and what gave it labels', async () => {
    const lines = await shownAt(80, ['runs', 'show', runId, '--org', 'acme-corporation', '--team', 'platform']);
    expect(lines.filter((line) => textWidth(line) > 80)).toEqual([]);
    expect(lines.filter((line) => line.includes(opId))).toEqual([
      expect.stringMatching(/^readings /),
      expect.stringMatching(/^trace-.* allow .* read/),
    ]);
  });

  test('an operation is paused and resumed by the id that the list shows', async () => {
    const lines = await shownAt(80, ['ops', 'list', '--state', 'paused']);
    const id = lines.map((line) => line.split(' ')[0] ?? '').find((word) => word === opId) ?? '';
    expect(id).toBe(opId);
    expect((await home.run(['ops', 'resume', id], { env })).code).toBe(0);
  });
});

test('-o wide, and a pipe, show every column whole', async () => {
  const wide = (await shownAt(80, ['ops', 'list', '-o', 'wide'])).join('\n');
  const piped = (await home.run(['ops', 'list'], { env })).stdout;
  for (const text of [wide, piped]) {
    expect(text).toMatch(/UPDATED.*\n.*\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/);
    expect(text).toContain('a long explanation of what this is about, and why a long explanation');
    expect(text).toContain('DOOR');
  }
});

test('reeve version says the same as reeve --version', async () => {
  const [word, option] = [await home.run(['version'], { env }), await home.run(['--version'], { env })];
  expect([word.code, word.stdout]).toEqual([0, option.stdout]);
  expect(control).not.toBe('');
});
