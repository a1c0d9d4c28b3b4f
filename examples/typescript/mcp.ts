// An MCP client under policy, with a server in the same process: no key, no network.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npm run example examples/typescript/mcp.ts
//
// Both work in a checkout from Node 20 on. The second installs the frameworks at its first run.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { connect } from '@reeve/sdk';
import { govern } from '@reeve/sdk/mcp';
import { z } from 'zod';

using reeve = connect({
  address: process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051',
  apiKey: process.env['REEVE_API_KEY'],
});
const agent = await reeve.register({ orgId: 'acme', teamId: 'support', agentId: 'mcp-example', framework: 'mcp' });

const server = new McpServer({ name: 'handbook', version: '1.0.0' });
server.registerTool('search_docs', { inputSchema: z.object({ q: z.string() }) }, ({ q }) => ({
  content: [{ type: 'text', text: `${q}.md says: five days.` }],
}));
server.registerTool('delete_customer', { inputSchema: z.object({ id: z.number() }) }, ({ id }) => ({
  content: [{ type: 'text', text: `customer ${id} is gone` }],
}));

const client = govern(agent, new Client({ name: 'support', version: '1.0.0' }), { server: 'handbook' });
const [near, far] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(far), client.connect(near)]);

// What policy denies whatever the arguments is not even listed.
const { tools } = await client.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`);
const calls = [
  { name: 'search_docs', arguments: { q: 'refunds' } },
  { name: 'delete_customer', arguments: { id: 17 } },
];
for (const call of calls) {
  const { content } = await client.callTool(call);
  for (const part of content) if (part.type === 'text') console.log(`${call.name}: ${part.text}`);
}
await client.close();
await agent.close();
