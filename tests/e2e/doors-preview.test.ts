import { afterAll, beforeAll, expect, test } from 'vitest';
import { ActionType } from '@reeve/contract';
import { connect } from '@reeve/sdk';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = `
name: door
rules:
  - { name: reading, effect: allow, tools: ["read_*"] }
  - { name: small-writes, effect: allow, tools: [write], when: 'size(args.text) < 10' }
  - { name: asking, effect: require_approval, tools: [deploy] }
  - { name: no-secrets, effect: deny, tools: ["*_secret"] }
  - { name: not-by-night, effect: deny, tools: [read_web], when: 'now.getHours() > 99' }
  - { name: one-server, effect: allow, tools: [ping], when: 'action.source == "fs"' }
`;
const tools = ['read_file', 'read_secret', 'read_web', 'write', 'deploy', 'ping', 'unknown'];

let gateway: TestGateway;
let bot: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'door.yaml': policy } });
  bot = await gateway.register({ agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('tools that can never be called are named, and nothing is recorded', async () => {
  const entries = gateway.audit().length;
  using reeve = connect({ address: gateway.grpc });
  const agent = await reeve.agent({ token: bot.token });
  expect(await agent.deniedTools('fs', tools)).toEqual(['read_secret', 'unknown']);
  expect(await agent.deniedTools('other', tools)).toEqual(['read_secret', 'ping', 'unknown']);
  expect(await agent.deniedTools('fs', [])).toEqual([]);
  expect(gateway.audit()).toHaveLength(entries);
  const { body } = await gateway.api.get('/api/v1/ops', bootstrapKey);
  expect(body).toMatchObject({ items: [] });
});

test('what is not named can be called with some arguments, and what is named with none', async () => {
  const decisions = async (tool: string, args: object) =>
    (await gateway.check(bot, { actionType: ActionType.TOOL_CALL, context: toolCall(tool, args) })).decision;
  expect(await decisions('write', { text: 'short' })).toBe(1);
  expect(await decisions('write', { text: 'much too long' })).toBe(2);
  expect(await decisions('read_secret', {})).toBe(2);
  expect(await decisions('unknown', { text: '' })).toBe(2);
});

test('a stranger learns nothing, and a list has its bound', async () => {
  using reeve = connect({ address: gateway.grpc });
  const stranger = reeve.attach({ ...bot.id, token: 'x'.repeat(40) });
  await expect(stranger.deniedTools('fs', tools)).rejects.toMatchObject({ name: 'ReeveUnauthenticated' });
  const agent = await reeve.agent({ token: bot.token });
  const many = Array.from({ length: 1001 }, (_, at) => `t${at}`);
  await expect(agent.deniedTools('fs', many)).rejects.toMatchObject({ name: 'ReeveInvalidRequest' });
  expect(await agent.deniedTools('fs', many.slice(1))).toHaveLength(1000);
});
