// Tools and a chat model of LangChain under policy. The model is scripted: no key, no network. An agent of LangChain
// (`createAgent({ model, tools })`) takes both as they are.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npm run example examples/typescript/langchain.ts
//
// Both work in a checkout from Node 20 on. The second installs the frameworks at its first run.
import type { ToolMessage } from '@langchain/core/messages';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { tool } from '@langchain/core/tools';
import { connect } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/langchain';
import { z } from 'zod';

using reeve = connect({
  address: process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051',
  apiKey: process.env['REEVE_API_KEY'],
});
const agent = await reeve.register({
  orgId: 'acme',
  teamId: 'support',
  agentId: 'langchain-example',
  framework: 'langchain',
});

const searchDocs = tool(({ q }) => `${q}.md says: five days.`, {
  name: 'search_docs',
  description: 'Searches the handbook.',
  schema: z.object({ q: z.string() }),
});
const deleteCustomer = tool(({ id }) => `customer ${id} is gone`, {
  name: 'delete_customer',
  description: 'Deletes a customer.',
  schema: z.object({ id: z.number() }),
});
const tools = govern(agent, [searchDocs, deleteCustomer]);

/** Calls two tools, and then says so. */
const scripted = fakeModel()
  .respondWithTools([
    { name: 'search_docs', args: { q: 'refunds' }, id: '1' },
    { name: 'delete_customer', args: { id: 17 }, id: '2' },
  ])
  .respond(new AIMessage('Five days. I may not delete.'));
const model = governModel(agent, scripted, { model: 'scripted-mini' }).bindTools([...tools]);

const question = new HumanMessage('How long do refunds take? And delete customer 17.');
const asked = await model.invoke([question]);
const results: ToolMessage[] = [];
for (const { name, args, id } of asked.tool_calls ?? []) {
  const used = tools.find((each) => each.name === name) as StructuredToolInterface;
  const result = (await used.invoke({ type: 'tool_call', name, args, id })) as ToolMessage;
  console.log(`${name}: ${result.text}`);
  results.push(result);
}
console.log((await model.invoke([question, asked, ...results])).content);
await agent.close();
