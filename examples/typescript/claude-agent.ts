// The Claude Agent SDK under policy: a tool of the program, and the tools of Claude Code itself. The model is scripted: no
// key, no network. Needs `npm install @anthropic-ai/claude-agent-sdk`, which this repository does not have.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npm run example examples/typescript/claude-agent.ts
//
// Both work in a checkout from Node 20 on. The second installs the frameworks at its first run.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { connect } from '@reeve/sdk';
import { govern, permissions } from '@reeve/sdk/claude-agent';
import { z } from 'zod';
import { ScriptedClaude } from './scripted-claude.ts';

using reeve = connect({
  address: process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051',
  apiKey: process.env['REEVE_API_KEY'],
});
const agent = await reeve.register({
  orgId: 'acme',
  teamId: 'support',
  agentId: 'claude-example',
  framework: 'claude-agent',
});

const searchDocs = tool('search_docs', 'Searches the handbook.', { q: z.string() }, async ({ q }: { q: string }) => ({
  content: [{ type: 'text', text: `${q}.md says: five days.` }],
}));
const handbook = createSdkMcpServer({ name: 'handbook', tools: [govern(agent, searchDocs)] });

await using model = await ScriptedClaude.start([
  { name: 'mcp__handbook__search_docs', input: { q: 'refunds' } },
  { name: 'Bash', input: { command: 'rm -rf customers/17', description: 'Delete customer 17' } },
]);
const home = mkdtempSync(join(tmpdir(), 'claude-example-'));
const turn = query({
  prompt: 'How long do refunds take? And delete customer 17.',
  options: {
    // The tools of the handbook are governed by themselves; everything else that Claude Code does, here.
    ...permissions(agent, { governed: ['handbook'] }),
    mcpServers: { handbook },
    allowedTools: ['mcp__handbook__search_docs'],
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, ENABLE_TOOL_SEARCH: 'false', ...model.env },
  },
});
for await (const message of turn) if (message.type === 'result') console.log(message.result);
for (const [index, text] of model.results) console.log(`${['search_docs', 'Bash'][index]}: ${text}`);
await agent.close();
