import { expect, test } from 'vitest';
import { execute } from '../commands.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import type { ChangedTool } from './report-tools.ts';

const bot = agentId('acme/search/bot');
const [locked, actual] = [sha256('before'), sha256('now')];
const changed: ChangedTool = { tool: 'read', locked, actual };

function report(test: TestGovernance, { id, token }: TestAgent, tools: readonly ChangedTool[], source = 'fs') {
  return test.settle(execute(test.gov, { kind: 'report_tools', agentId: id, token, source, changed: tools }));
}

async function reported(test: TestGovernance) {
  return (await test.audit()).filter(({ event_type }) => event_type === 'ToolDefinitionChanged');
}

test('a report is one entry of the agent and one alert', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  await report(test, agent, [changed, { tool: 'new', locked: '', actual }, { tool: 'gone', locked, actual: '' }]);
  expect(await reported(test)).toMatchObject([
    {
      lineage: { org_id: 'acme', agent_id: 'bot' },
      actor: { kind: 'agent' },
      reason: 'tools of "fs" are not defined as when they were locked: read, new, gone',
      payload: {
        tool_source: 'fs',
        changed: [
          { tool_name: 'read', locked_sha256: locked, actual_sha256: actual },
          { tool_name: 'new', locked_sha256: '', actual_sha256: actual },
          { tool_name: 'gone', locked_sha256: locked, actual_sha256: '' },
        ],
      },
    },
  ]);
  expect(test.events.filter(({ type }) => type === 'audit_alert')).toMatchObject([
    {
      agent: bot,
      alert: 'tool_definition_changed',
      details: { tool_source: 'fs', changed: 3, tool_names: ['read', 'new', 'gone'] },
    },
  ]);
});

test('a tool that is neither locked nor listed is reported, too', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  await report(test, agent, [{ tool: 'hidden', locked: '', actual: '' }]);
  const changed = [{ tool_name: 'hidden', locked_sha256: '', actual_sha256: '' }];
  expect(await reported(test)).toMatchObject([{ payload: { changed } }]);
});

test('what was reported of late is not recorded again, unless it differs', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  const other = await test.register(agentId('acme/search/other'));
  await report(test, agent, [changed]);
  await report(test, agent, [changed]);
  await report(test, agent, [changed, changed, { tool: 'write', locked, actual }]);
  expect((await reported(test)).map(({ payload }) => (payload['changed'] as unknown[]).length)).toEqual([1, 1]);
  await report(test, agent, [{ ...changed, actual: sha256('again another') }]);
  await report(test, agent, [changed], 'web');
  await report(test, other, [changed]);
  expect(await reported(test)).toHaveLength(5);
  test.clock.advance(24 * 3600 * 1000);
  await report(test, agent, [changed]);
  expect(await reported(test)).toHaveLength(6);
});

test('a report that could not be made durable counts as not made', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  test.failure = new Error('disk full');
  await expect(report(test, agent, [changed])).rejects.toMatchObject({ code: 'store_unavailable' });
  test.failure = undefined;
  await report(test, agent, [changed]);
  expect(await reported(test)).toHaveLength(1);
});

test('a long list is split over entries of at most 16 KiB that hold each tool once', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  const names = Array.from({ length: 1000 }, (_, at) => `${at}-`.padEnd(512, '\u0001ä'));
  const tools = names.map((tool) => ({ tool, locked, actual }));
  await report(test, agent, tools, '\u0001'.repeat(512));
  const entries = await reported(test);
  expect(entries.length).toBeGreaterThan(10);
  for (const { payload } of entries) {
    expect(new TextEncoder().encode(JSON.stringify(payload)).length).toBeLessThanOrEqual(16 * 1024);
  }
  const told = entries.flatMap(({ payload }) => payload['changed'] as { tool_name: string }[]);
  expect(told.map(({ tool_name }) => tool_name)).toEqual(names);
});

test('few reports are forgotten before many others have come', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  await report(test, agent, [changed]);
  for (let round = 0; round < 20; round++) {
    const tools = Array.from({ length: 1000 }, (_, at) => ({ tool: `t${round}-${at}`, locked, actual }));
    await report(test, agent, tools);
  }
  const before = (await reported(test)).length;
  await report(test, agent, [{ tool: 't0-1', locked, actual }]);
  expect(await reported(test)).toHaveLength(before);
  await report(test, agent, [changed]);
  expect(await reported(test)).toHaveLength(before + 1);
});

test.each<[string, readonly ChangedTool[]]>([
  ['changed', []],
  ['changed', Array.from({ length: 1001 }, (_, at) => ({ tool: `t${at}`, locked, actual }))],
  ['changed[1].tool_name', [changed, { ...changed, tool: '' }]],
  ['changed[0].tool_name', [{ ...changed, tool: 'a'.repeat(513) }]],
  ['changed[0].locked_sha256', [{ ...changed, locked: locked.slice(1) }]],
  ['changed[0].actual_sha256', [{ ...changed, actual: actual.toUpperCase() }]],
  ['changed[0].actual_sha256', [{ ...changed, actual: locked }]],
])('a report with a bad %s is refused as a whole', async (member, tools) => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  await expect(report(test, agent, tools)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(`${member}: `),
  });
  expect(await reported(test)).toEqual([]);
});

test('a stranger reports nothing', async () => {
  const test = await testGovernance();
  await test.register(bot);
  await expect(report(test, { id: bot, token: 'x' }, [changed])).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await reported(test)).toEqual([]);
});
