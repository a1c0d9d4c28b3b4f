// Tools and a model of the OpenAI Agents SDK under policy. The model is scripted: no key, no network.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npm run example examples/typescript/openai-agents.ts
// Both work in a checkout from Node 20 on. The second installs the frameworks at its first run.
import { Agent, Runner, tool } from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { connect } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/openai-agents';
import { z } from 'zod';

using reeve = connect({
  address: process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051',
  apiKey: process.env['REEVE_API_KEY'],
});
const agent = await reeve.register({
  orgId: 'acme',
  teamId: 'support',
  agentId: 'agents-example',
  framework: 'openai-agents',
});

const searchDocs = tool({
  name: 'search_docs',
  description: 'Searches the handbook.',
  parameters: z.object({ q: z.string() }),
  execute: ({ q }) => `${q}.md says: five days.`,
});
const deleteCustomer = tool({
  name: 'delete_customer',
  description: 'Deletes a customer.',
  parameters: z.object({ id: z.number() }),
  execute: ({ id }) => `customer ${id} is gone`,
});

/** Calls two tools, and then says so. */
const scripted = new ScriptedModel([
  [
    functionCall('search_docs', { q: 'refunds' }, { callId: '1' }),
    functionCall('delete_customer', { id: 17 }, { callId: '2' }),
  ],
  [assistantMessage('Five days. I may not delete.')],
]);

const support = new Agent({
  name: 'support',
  tools: govern(agent, [searchDocs, deleteCustomer]),
  model: governModel(agent, scripted, { model: 'scripted-mini' }),
});
const { newItems, finalOutput } = await new Runner({ tracingDisabled: true }).run(
  support,
  'How long do refunds take? And delete customer 17.',
);
for (const item of newItems.filter(({ type }) => type === 'tool_call_output_item')) {
  const { name, output } = item.rawItem as { name: string; output: unknown };
  console.log(`${name}: ${typeof output === 'string' ? output : JSON.stringify(output)}`);
}
console.log(finalOutput);
await agent.close();
