import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { currentOperation } from '@reeve/sdk';
import { govern, governServer } from '@reeve/sdk/mcp';
import { z } from 'zod';
import type { Played, Scene, Subject } from '../scene.ts';

const server = 'scripted';

/** A governed client, and a server that knows nothing of it. */
export const mcp: Subject = {
  name: 'mcp',
  play: (scene) =>
    play(
      scene,
      (client) => govern(scene.agent, client, { server, ...optionsOf(scene) }),
      (plain) => plain,
    ),
};

/** A governed server, and a client that knows nothing of it. */
export const mcpServer: Subject = {
  name: 'mcp-server',
  play: (scene) =>
    play(
      scene,
      (client) => client,
      (plain) => governServer(scene.agent, plain, { server, ...optionsOf(scene) }),
    ),
};

function optionsOf({ runId, approvalWaitMs, costs, subagents, spent }: Scene) {
  return { runId, approvalWaitMs, costs, subagents, spent };
}

async function play(
  scene: Scene,
  front: (client: Client) => Client,
  behind: (plain: McpServer) => McpServer,
): Promise<Played> {
  const plain = behind(new McpServer({ name: server, version: '1' }));
  registerTools(plain, scene);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = front(new Client({ name: 'scripted', version: '1' }));
  await Promise.all([plain.connect(far), client.connect(near)]);
  try {
    const results = await Promise.all(
      scene.calls.map((call) => client.callTool({ name: call.tool, arguments: { ...call.args } })),
    );
    return { reads: results.map(({ content }) => JSON.stringify(content)) };
  } catch (error) {
    return { reads: [], error };
  } finally {
    await client.close();
  }
}

function registerTools(plain: McpServer, { tools }: Scene): void {
  for (const { name, args, body } of tools) {
    const shape = Object.entries(args).map(
      ([each, type]) => [each, type === 'number' ? z.number() : z.string()] as const,
    );
    plain.registerTool(name, { inputSchema: z.object(Object.fromEntries(shape)) }, async (input, { mcpReq }) => {
      const text = await body(input, { signal: mcpReq.signal, operation: currentOperation() });
      return { content: [{ type: 'text', text }] };
    });
  }
}
