import { tool as chatTool } from '@langchain/core/tools';
import { tool as agentsTool } from '@openai/agents-core';
import { govern as governAi } from '@reeve/sdk/ai';
import { govern as governClaude } from '@reeve/sdk/claude-agent';
import { govern as governChat } from '@reeve/sdk/langchain';
import { govern as governClient, governServer } from '@reeve/sdk/mcp';
import { govern as governAgents } from '@reeve/sdk/openai-agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { AdapterWorld } from './adapter-world.ts';

const policy = `
name: rewriting
default: deny
rules:
  - { name: cap, effect: allow, tools: [search], rewrite: { limit: 'args.limit > 10.0 ? 10.0 : args.limit' } }
`;

let world: AdapterWorld;
beforeAll(async () => {
  world = await AdapterWorld.start(policy);
});
afterAll(() => world[Symbol.asyncDispose]());

interface Args {
  readonly limit: number;
}

const schema = z.object({ limit: z.number() });
const told = ({ limit }: Args) => `found ${limit}`;
const content = (args: Args) => ({ content: [{ type: 'text' as const, text: told(args) }] });

/** Calls a governed tool of each framework with these arguments. */
const frameworks: Readonly<Record<string, (args: Args) => Promise<unknown>>> = {
  'the AI SDK': async (args) => {
    const agent = await world.register(`ai-${args.limit}`);
    const execute = async (input: Args) => Promise.resolve(told(input));
    const tools = governAi(agent, { search: { inputSchema: schema, execute } });
    return await tools.search.execute(args);
  },
  'the AI SDK, streamed': async (args) => {
    const agent = await world.register(`ai-streamed-${args.limit}`);
    async function* execute(input: Args) {
      yield told(input);
    }
    const tools = governAi(agent, { search: { inputSchema: schema, execute } });
    let last: unknown;
    for await (const part of tools.search.execute(args)) last = part;
    return last;
  },
  LangChain: async (args) => {
    const agent = await world.register(`langchain-${args.limit}`);
    const search = chatTool(told, { name: 'search', description: 'search', schema });
    return await governChat(agent, search).invoke(args);
  },
  'the OpenAI Agents SDK': async (args) => {
    const agent = await world.register(`openai-${args.limit}`);
    const search = agentsTool({ name: 'search', description: 'search', parameters: schema, execute: told });
    const governed = governAgents(agent, search) as unknown as {
      invoke(context: unknown, input: string): Promise<unknown>;
    };
    return await governed.invoke({ context: {} }, JSON.stringify(args));
  },
  'tools of the Claude Agent SDK': async (args) => {
    const agent = await world.register(`claude-${args.limit}`);
    const search = { name: 'search', handler: async (input: Args, _extra: object) => content(input) };
    return await governClaude(agent, search).handler(args, {});
  },
  'a client of MCP': async (args) => {
    const agent = await world.register(`mcp-${args.limit}`);
    const client = {
      callTool: async (params: { name: string; arguments: Args }, _schema?: unknown, _options?: object) =>
        content(params.arguments),
    };
    return await governClient(agent, client, { server: 's' }).callTool({ name: 'search', arguments: args });
  },
  'a server of MCP': async (args) => {
    const agent = await world.register(`mcp-server-${args.limit}`);
    const registered: ((input: Args, context: object) => unknown)[] = [];
    const server = {
      registerTool: (_name: string, _config: object, callback: (input: Args, context: object) => unknown) =>
        registered.push(callback),
    };
    governServer(agent, server, { server: 's' }).registerTool('search', { inputSchema: schema }, content);
    return await registered[0]?.(args, {});
  },
};

test.each(Object.entries(frameworks))('%s calls the tool with the arguments of the answer', async (_, call) => {
  expect(JSON.stringify(await call({ limit: 500 }))).toContain('found 10');
  expect(JSON.stringify(await call({ limit: 3 }))).toContain('found 3');
});
