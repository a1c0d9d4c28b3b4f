import { expect, test } from 'vitest';
import { execute } from '../commands.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { sha256 } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';

function report({ gov }: TestGovernance, { id, token }: TestAgent, tool: string) {
  const changed = [{ tool, locked: sha256('before'), actual: sha256('now') }];
  return execute(gov, { kind: 'report_tools', agentId: id, token, source: 'fs', changed });
}

test('a change of a tool that was reported at one gateway is not recorded again at another', async () => {
  const { one, two, settled, register, follow } = await twoGateways('default: allow');
  const agent = await register('acme/red/bot');
  await follow();
  await settled(report(one, agent, 'read'));
  await follow();
  await settled(report(two, agent, 'read'));
  await settled(report(two, agent, 'write'));
  const entries = (await one.audit()).filter(({ event_type }) => event_type === 'ToolDefinitionChanged');
  const tools = entries.map(({ payload }) =>
    (payload['changed'] as { tool_name: string }[]).map((each) => each.tool_name),
  );
  expect(tools).toEqual([['read'], ['write']]);
});
