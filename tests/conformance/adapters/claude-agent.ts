import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentOperation } from '@reeve/sdk';
import { govern, permissions } from '@reeve/sdk/claude-agent';
import { z } from 'zod';
import type { Played, Scene, SceneTool, Subject } from '../../adapters/scene.ts';
import { ScriptedClaude } from '../../../examples/typescript/scripted-claude.ts';

/** The part of the Claude Agent SDK that is used here. The repository does not install it. */
export interface ClaudeAgentSdk {
  query(asked: { prompt: string; options: object }): AsyncIterable<unknown>;
  tool(name: string, description: string, shape: object, handler: Handler, extras: object): SdkTool;
  createSdkMcpServer(options: { name: string; tools: readonly SdkTool[] }): object;
}

type Handler = (args: Record<string, unknown>, extra: { readonly signal?: AbortSignal }) => Promise<object>;

interface SdkTool {
  readonly name: string;
  readonly handler: Handler;
}

const server = 'scene';
/** Claude Code uses tools at the same time only if they say that they change nothing. */
const annotations = { readOnlyHint: true };

/** Tools that the program brings along, each governed by itself. */
export function claudeTools(sdk: ClaudeAgentSdk): Subject {
  return {
    name: 'claude-agent',
    play(scene) {
      const { agent, runId, approvalWaitMs, costs, subagents } = scene;
      const tools = scene.tools.map((each) => toolOf(sdk, each));
      const allowedTools = tools.map(({ name }) => `mcp__${server}__${name}`);
      return play(sdk, scene, govern(agent, tools, { runId, approvalWaitMs, costs, subagents }), { allowedTools });
    },
  };
}

/** The same tools as they are, with permissions for all that the query does. No tool is allowed beforehand. */
export function claudePermissions(sdk: ClaudeAgentSdk): Subject {
  return {
    name: 'claude-agent-permissions',
    async play(scene) {
      const { agent, runId, approvalWaitMs, costs } = scene;
      const abortController = new AbortController();
      const prefixed = Object.fromEntries(
        Object.entries(costs).map(([tool, cost]) => [`mcp__${server}__${tool}`, cost]),
      );
      const spent = (tool: string) => scene.spent(tool.replace(/^mcp__.*__/, ''));
      const given = permissions(agent, { runId, approvalWaitMs, costs: prefixed, spent, abortController });
      const tools = scene.tools.map((each) => toolOf(sdk, each));
      const played = await play(sdk, scene, tools, { ...given, abortController });
      // The query ends with an error of its own. The reason is where the program has put it.
      return abortController.signal.aborted ? { ...played, error: abortController.signal.reason } : played;
    },
  };
}

function toolOf(sdk: ClaudeAgentSdk, { name, args, body }: SceneTool): SdkTool {
  const shape = Object.entries(args).map(
    ([each, type]) => [each, type === 'number' ? z.number() : z.string()] as const,
  );
  return sdk.tool(
    name,
    name,
    Object.fromEntries(shape),
    async (input, { signal }) => {
      const text = await body(input, { signal, operation: currentOperation() });
      return { content: [{ type: 'text', text }] };
    },
    { annotations },
  );
}

/** One query of Claude Code, in a folder and with a home of its own, against the scripted model. */
async function play(sdk: ClaudeAgentSdk, scene: Scene, tools: readonly SdkTool[], given: object): Promise<Played> {
  const uses = scene.calls.map((call) => ({ name: `mcp__${server}__${call.tool}`, input: call.args }));
  await using model = await ScriptedClaude.start(uses);
  const home = mkdtempSync(join(tmpdir(), 'reeve-claude-'));
  const options = {
    cwd: home,
    // All tools are offered at once, not found by searching.
    env: { PATH: process.env['PATH'], HOME: home, ENABLE_TOOL_SEARCH: 'false', ...model.env },
    settingSources: [],
    mcpServers: { [server]: sdk.createSdkMcpServer({ name: server, tools }) },
    maxTurns: 3,
    ...given,
  };
  let error: unknown;
  try {
    for await (const message of sdk.query({ prompt: 'go', options })) void message;
  } catch (caught) {
    error = caught;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const reads = uses.map((_, index) => model.results.get(index) ?? '');
  return { reads, ...(error === undefined ? {} : { error }) };
}
