// Tools and a model of the Vercel AI SDK under policy. The model is scripted: no key, no network.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npm run example examples/typescript/ai.ts
//
// Both work in a checkout from Node 20 on. The second installs the frameworks at its first run.
import { connect } from '@reeve/sdk';
import { govern, governModel } from '@reeve/sdk/ai';
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

using reeve = connect({
  address: process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051',
  apiKey: process.env['REEVE_API_KEY'],
});
const agent = await reeve.register({ orgId: 'acme', teamId: 'support', agentId: 'ai-example', framework: 'ai' });

const tools = govern(agent, {
  search_docs: tool({ inputSchema: z.object({ q: z.string() }), execute: ({ q }) => `${q}.md says: five days.` }),
  delete_customer: tool({ inputSchema: z.object({ id: z.number() }), execute: ({ id }) => `customer ${id} is gone` }),
});

const { steps } = await generateText({
  model: governModel(agent, scriptedModel()),
  tools,
  prompt: 'How long do refunds take? And delete customer 17.',
  stopWhen: isStepCount(2),
});
for (const { toolName, ...part } of steps.flatMap(({ content }) => content.filter(isAnswer))) {
  console.log(`${toolName}: ${part.type === 'tool-result' ? String(part.output) : String(part.error)}`);
}
console.log(steps.at(-1)?.text);
await agent.close();

function isAnswer<Part extends { type: string }>(
  part: Part,
): part is Extract<Part, { type: 'tool-result' | 'tool-error' }> {
  return part.type === 'tool-result' || part.type === 'tool-error';
}

/** Calls two tools, and then says so. */
function scriptedModel(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 120, noCache: 120, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 40, text: 40, reasoning: 0 },
  };
  const call = { type: 'tool-call' as const, toolCallId: '1' };
  const calls = [
    { ...call, toolName: 'search_docs', input: '{"q":"refunds"}' },
    { ...call, toolCallId: '2', toolName: 'delete_customer', input: '{"id":17}' },
  ];
  const end = { usage, warnings: [], finishReason: { unified: 'stop' as const, raw: undefined } };
  const turns = [
    { content: calls, ...end },
    { content: [{ type: 'text' as const, text: 'Five days. I may not delete.' }], ...end },
  ];
  return new MockLanguageModelV4({ modelId: 'scripted-mini', doGenerate: turns });
}
