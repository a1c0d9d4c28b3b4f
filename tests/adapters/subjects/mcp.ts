import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { govern } from '@reeve/sdk/mcp';
import { z } from 'zod';
import type { Played, Scene, Subject } from '../scene.ts';

/** An MCP client and a server, in one process. */
export const mcp: Subject = {
  name: 'mcp',
  async play(scene: Scene): Promise<Played> {
    const { agent, runId, approvalWaitMs, costs, subagents, spent } = scene;
    const server = serverOf(scene);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const inner = new Client({ name: 'scripted', version: '1' });
    await Promise.all([server.connect(far), inner.connect(near)]);
    const client = govern(agent, inner, { server: 'scripted', runId, approvalWaitMs, costs, subagents, spent });
    try {
      const results = await Promise.all(
        scene.calls.map((call) => client.callTool({ name: call.tool, arguments: { ...call.args } })),
      );
      return { reads: results.map(({ content }) => JSON.stringify(content)) };
    } catch (error) {
      return { reads: [], error };
    } finally {
      await inner.close();
    }
  },
};

function serverOf({ tools }: Scene): McpServer {
  const server = new McpServer({ name: 'scripted', version: '1' });
  for (const { name, args, body } of tools) {
    const shape = Object.entries(args).map(([each, type]) => [each, type === 'number' ? z.number() : z.string()] as const);
    server.registerTool(name, { inputSchema: z.object(Object.fromEntries(shape)) }, async (input, { mcpReq }) => {
      // The operation is known to the client alone. A pause holds back the result.
      const text = await body(input, { signal: mcpReq.signal, operation: undefined });
      return { content: [{ type: 'text', text }] };
    });
  }
  return server;
}
