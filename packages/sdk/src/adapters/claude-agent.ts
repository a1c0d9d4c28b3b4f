import type { Agent } from '../agent.ts';
import { copyWith } from './copy-with.ts';
import { argsFor } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { governMcpCall } from './mcp-result.ts';

export { permissions } from './claude-agent-permissions.ts';
export type { Permissions, PermissionsOptions } from './claude-agent-permissions.ts';
export type { GovernOptions } from './govern-options.ts';

/** The part of a tool of the Claude Agent SDK, as its `tool()` makes it, that governance needs. */
interface SdkTool {
  readonly name: string;
  readonly handler: (args: never, extra: never) => Promise<unknown>;
}

type Handler = (args: unknown, extra?: { readonly signal?: AbortSignal | undefined }) => Promise<unknown>;

/**
 * Governs tools that the program brings along (`tool()` of the Claude Agent SDK): one, or a list. They keep their types. The
 * model reads the reason of a refusal as the tool's result. For the tools of Claude Code itself see `permissions`.
 */
export function govern<Tools extends SdkTool | readonly SdkTool[]>(
  agent: Agent,
  tools: Tools,
  options: GovernOptions = {},
): Tools {
  const one = (tool: SdkTool) => governOne(agent, tool, options);
  return (isList(tools) ? tools.map(one) : one(tools)) as unknown as Tools;
}

function governOne(agent: Agent, tool: SdkTool, options: GovernOptions): SdkTool {
  const inner = tool.handler as unknown as Handler;
  const { annotations } = tool as { readonly annotations?: Readonly<Record<string, unknown>> | undefined };
  const handler: Handler = (args, extra = {}) => {
    const use = { tool: tool.name, args, takesArgs: true as const, annotations, signal: extra.signal };
    return governMcpCall(agent, use, options, (signal, operation) =>
      inner.call(tool, argsFor(operation, args), { ...extra, signal }),
    );
  };
  return copyWith(tool, { handler });
}

function isList(tools: unknown): tools is readonly SdkTool[] {
  return Array.isArray(tools);
}
