import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ActionType, Via_Door as Door } from '@reeve/contract';
import type { CheckActionRequest } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Agents = RouteOutput<Routes['listAgents']>;
type Agent = Agents['items'][number];

const options = { policies: { 'all.yaml': allowAll } };
const modelCall: Pick<CheckActionRequest, 'actionType' | 'context'> = {
  actionType: ActionType.LLM_CALL,
  context: { action: { $case: 'llmCall', value: { model: 'large', promptTokens: 1, maxOutputTokens: 1 } } },
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start(options);
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function agentOf(name: string): Promise<Agent | undefined> {
  const { body } = await gateway.api.get<Agents>('/api/v1/agents', bootstrapKey);
  return body.items.find(({ agent_id: id }) => id === name);
}

/** What the store has, which is all that a kill leaves. */
function stored(): Record<string, string> {
  const db = new DatabaseSync(join(gateway.folder, 'reeve.db'), { readOnly: true });
  try {
    const rows = db.prepare('SELECT agent_id, record FROM agent_uses').all();
    return Object.fromEntries(rows.map((row) => [String(row['agent_id']), String(row['record'])]));
  } finally {
    db.close();
  }
}

test('an agent whose model calls come by a proxy, and whose tools are never checked, is visible as such', async () => {
  const half = await gateway.register({ agentId: 'half' });
  expect(await agentOf('half')).toMatchObject({ doors: [], uncovered: [] });
  await gateway.check(half, { ...modelCall, via: { door: Door.MODEL, name: 'openai' } });
  const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
  const model = { door: 'model', first_used_at: time, last_used_at: time, names: ['openai'] };
  expect(await agentOf('half')).toMatchObject({ doors: [model], uncovered: ['tools'] });
  const tools = await gateway.register({ agentId: 'tools' });
  await gateway.check(tools, { via: { door: Door.HOOK, name: 'claude-code' } });
  await gateway.check(tools);
  expect(await agentOf('tools')).toMatchObject({
    doors: [
      { door: 'sdk', names: [] },
      { door: 'hook', names: ['claude-code'] },
    ],
    uncovered: ['model_calls'],
  });
  await gateway.check(tools, modelCall);
  expect(await agentOf('tools')).toMatchObject({ uncovered: [] });
});

test('it is known after a kill and after an orderly end', async () => {
  const agent = await gateway.register({ agentId: 'lasting' });
  await gateway.check(agent, { via: { door: Door.MCP, name: 'github' } });
  await eventually(() => expect(stored()['lasting']).toContain('github'));
  const before = await agentOf('lasting');
  gateway = await gateway.restart('SIGKILL', options);
  expect(await agentOf('lasting')).toMatchObject({ doors: before?.doors, uncovered: ['model_calls'] });
  await gateway.check(agent, { via: { door: Door.MCP, name: 'jira' } });
  gateway = await gateway.restart('SIGTERM', options);
  const [mcp] = (await agentOf('lasting'))?.doors ?? [];
  expect(mcp).toMatchObject({ names: ['github', 'jira'], first_used_at: before?.doors[0]?.first_used_at });
});

test('the command shows it', async () => {
  using home = new TestHome();
  const env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
  const { stdout } = await home.run(['agents', 'list'], { env: { ...env, COLUMNS: '300' } });
  expect(stdout).toMatch(/DOORS +NOT COVERED/);
  expect(stdout).toMatch(/half.*model \(openai\) +tools/);
});
