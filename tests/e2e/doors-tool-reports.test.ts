import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { EventSocket } from '../harness/event-socket.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let reeve: Reeve;
let agent: Agent;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  reeve = connect({ address: gateway.grpc });
  agent = await reeve.agent({ token: (await gateway.register({ agentId: 'bot' })).token });
});
afterAll(async () => {
  reeve.close();
  await gateway[Symbol.asyncDispose]();
});

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const [locked, actual] = [digest('before'), digest('now')];

test('a changed tool is in the log, found by its name, and an alert', async () => {
  const socket = await EventSocket.open(gateway.http, { query: { types: 'audit_alert' } });
  await agent.reportChangedTools('fs', [
    { tool: 'read_everything', locked, actual },
    { tool: 'added', actual },
  ]);
  await agent.reportChangedTools('fs', [{ tool: 'read_everything', locked, actual }]);
  const query = '/api/v1/logs?event_type=ToolDefinitionChanged&q=read_everything';
  const { body } = await gateway.api.get<{ items: unknown[] }>(query, bootstrapKey);
  expect(body).toMatchObject({
    items: [
      {
        event_type: 'ToolDefinitionChanged',
        lineage: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
        payload: {
          tool_source: 'fs',
          changed: [
            { tool_name: 'read_everything', locked_sha256: locked, actual_sha256: actual },
            { tool_name: 'added', locked_sha256: '', actual_sha256: actual },
          ],
        },
      },
    ],
  });
  expect(body.items).toHaveLength(1);
  expect(await socket.received(1)).toMatchObject([
    {
      event_type: 'audit_alert',
      agent_id: 'bot',
      payload: { alert: 'tool_definition_changed', tool_source: 'fs', changed: 2 },
    },
  ]);
  socket.close();
});

test('a report without tools, with too many, or of a stranger is refused', async () => {
  const many = Array.from({ length: 1001 }, (_, at) => ({ tool: `t${at}`, locked, actual }));
  await expect(agent.reportChangedTools('fs', [])).rejects.toMatchObject({ name: 'ReeveInvalidRequest' });
  await expect(agent.reportChangedTools('fs', many)).rejects.toMatchObject({ name: 'ReeveInvalidRequest' });
  await agent.reportChangedTools('many', many.slice(1));
  const stranger = reeve.attach({ ...agent.id, token: 'x'.repeat(40) });
  await expect(stranger.reportChangedTools('fs', [{ tool: 'x', actual }])).rejects.toMatchObject({
    name: 'ReeveUnauthenticated',
  });
});
