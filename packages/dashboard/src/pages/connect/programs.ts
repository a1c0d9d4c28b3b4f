import type { DoorId } from './door-ids.ts';

/** A program that acts by itself once, so that its first check arrives. */
export interface Program {
  readonly language: 'typescript' | 'python';
  /** The lines before the agent, with the imports. */
  readonly before: string;
  /** What it does as `agent`. */
  readonly acts: string;
  /** For npm the packages, for pip the extra. */
  readonly install: string;
  readonly note?: string;
}

const searchDocs = `def search_docs(q: str) -> str:
    """Searches the handbook."""
    return f"{q}: five days"`;

const modelInTypescript = 'For model calls there is governModel(agent, model), of the same module.';
const modelInPython = 'For model calls there is govern_model(agent, model), of the same module.';

/** The shortest programs of each language and framework. Few need a model, and so the key of a provider. */
export const programs = {
  sdk: {
    language: 'typescript',
    before: `import { connect } from '@reeve/sdk';`,
    acts: `await agent.run({ tool: 'search_docs', args: { q: 'refunds' } }, async () => {
  // what the tool does
});`,
    install: '@reeve/sdk',
  },
  python: {
    language: 'python',
    before: 'from reeve import Reeve',
    acts: `with agent.operation(tool="search_docs", args={"q": "refunds"}):
    print("searching")  # what the tool does`,
    install: '',
  },
  langchain: {
    language: 'typescript',
    before: `import { tool } from '@langchain/core/tools';
import { connect } from '@reeve/sdk';
import { govern } from '@reeve/sdk/langchain';
import { z } from 'zod';`,
    acts: `const searchDocs = tool(({ q }) => \`\${q}: five days\`, {
  name: 'search_docs',
  description: 'Searches the handbook.',
  schema: z.object({ q: z.string() }),
});
const tools = govern(agent, [searchDocs]); // for createAgent({ model, tools }), or a graph of your own
console.log(await tools[0].invoke({ q: 'refunds' }));`,
    install: '@reeve/sdk @langchain/core zod',
    note: modelInTypescript,
  },
  'openai-agents': {
    language: 'typescript',
    before: `import { RunContext, tool } from '@openai/agents-core';
import { connect } from '@reeve/sdk';
import { govern } from '@reeve/sdk/openai-agents';
import { z } from 'zod';`,
    acts: `const searchDocs = tool({
  name: 'search_docs',
  description: 'Searches the handbook.',
  parameters: z.object({ q: z.string() }),
  execute: ({ q }) => \`\${q}: five days\`,
});
const tools = govern(agent, [searchDocs]); // for new Agent({ name, tools })
console.log(await tools[0].invoke(new RunContext(), '{"q":"refunds"}'));`,
    install: '@reeve/sdk @openai/agents zod',
    note: modelInTypescript,
  },
  ai: {
    language: 'typescript',
    before: `import { connect } from '@reeve/sdk';
import { govern } from '@reeve/sdk/ai';
import { tool } from 'ai';
import { z } from 'zod';`,
    acts: `const searchDocs = tool({ inputSchema: z.object({ q: z.string() }), execute: ({ q }) => \`\${q}: five days\` });
const tools = govern(agent, { search_docs: searchDocs }); // for generateText({ model, tools, prompt })
console.log(await tools.search_docs.execute({ q: 'refunds' }, { toolCallId: '1', messages: [] }));`,
    install: '@reeve/sdk ai zod',
    note: modelInTypescript,
  },
  'claude-agent': {
    language: 'typescript',
    before: `import { query } from '@anthropic-ai/claude-agent-sdk';
import { connect } from '@reeve/sdk';
import { permissions } from '@reeve/sdk/claude-agent';`,
    acts: `const options = permissions(agent); // asks for each file, command, host and tool
for await (const message of query({ prompt: 'Which files are here?', options })) {
  if (message.type === 'result') console.log(message.result);
}`,
    install: '@reeve/sdk @anthropic-ai/claude-agent-sdk',
    note: 'It calls Claude, with a login or key of your own. For its model calls, see “Anthropic” here.',
  },
  'langchain-python': {
    language: 'python',
    before: `from langchain_core.tools import tool
from reeve import Reeve
from reeve.adapters.langchain import govern


@tool
${searchDocs}
`,
    acts: `tools = govern(agent, [search_docs])  # for create_agent(model, tools), or a graph of your own
print(tools[0].invoke({"q": "refunds"}))`,
    install: '[langchain]',
    note: 'GovernMiddleware(agent), of the same module, governs the model and all tools of create_agent.',
  },
  'openai-agents-python': {
    language: 'python',
    before: `from agents import Agent, MultiProvider, RunConfig, Runner, function_tool
from reeve import Reeve
from reeve.adapters.openai_agents import govern, govern_model


@function_tool
${searchDocs}
`,
    acts: `support = Agent("support", tools=govern(agent, [search_docs]))
config = RunConfig(model_provider=govern_model(agent, MultiProvider()))
print(Runner.run_sync(support, "How long do refunds take?", run_config=config).final_output)`,
    install: '[openai-agents]',
    note: 'It calls a model, with OPENAI_API_KEY.',
  },
  crewai: {
    language: 'python',
    before: `from crewai.tools import tool
from reeve import Reeve
from reeve.adapters.crewai import govern


@tool
${searchDocs}
`,
    acts: `tools = govern(agent, [search_docs])  # for Agent(role, goal, backstory, tools=tools)
print(tools[0].run(q="refunds"))`,
    install: '[crewai]',
    note: modelInPython,
  },
  'pydantic-ai': {
    language: 'python',
    before: `from pydantic_ai import Agent, FunctionToolset
from reeve import Reeve
from reeve.adapters.pydantic_ai import govern


${searchDocs}
`,
    acts: `tools = govern(agent, FunctionToolset([search_docs]))
print(Agent("test", toolsets=[tools]).run_sync("How long do refunds take?").output)`,
    install: '[pydantic-ai]',
    note: `“test” is a model without a provider, which calls each tool once. ${modelInPython}`,
  },
} as const satisfies Partial<Record<DoorId, Program>>;
