import type { Agent } from '../agent.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import { standInFor } from './copy-with.ts';
import { argsFor } from './govern-call.ts';
import type { McpGovernOptions } from './mcp-result.ts';
import { governMcpCall } from './mcp-result.ts';

/** The part of an MCP server that governance needs. The official servers, 1.x and 2.x, have it. */
interface McpServer {
  registerTool(name: string, config: never, callback: never): unknown;
}

interface ToolConfig {
  readonly inputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

interface CallContext {
  readonly signal?: AbortSignal | undefined;
  readonly sessionId?: string | undefined;
  /** Where 2.x has the signal. */
  readonly mcpReq?: { readonly signal?: AbortSignal | undefined } | undefined;
}

type Callback = (...args: unknown[]) => unknown;

/**
 * Governs the tools of an MCP server: those that are registered on what this gives back. Each call is one of the agent given
 * here, whoever the client is.
 */
export function governServer<Server extends McpServer>(
  agent: Agent,
  server: Server,
  options: Omit<McpGovernOptions, 'showDenied'>,
): Server {
  const { server: source, ...rest } = options;
  const inner = server as unknown as Readonly<Record<'registerTool', Callback>>;
  const registerTool: Callback = (...args) => {
    const [name, config, callback] = args as [string, ToolConfig, Callback];
    const hasInput = config.inputSchema !== undefined;
    const governed: Callback = (...given) => {
      const context = (given[hasInput ? 1 : 0] ?? {}) as CallContext;
      const { signal = context.mcpReq?.signal, sessionId } = context;
      const use = {
        tool: name,
        args: hasInput ? given[0] : undefined,
        takesArgs: hasInput ? (true as const) : undefined,
        annotations: config.annotations,
        signal,
        runId: sessionId,
      };
      return governMcpCall(agent, use, { ...rest, source }, (stop, operation) =>
        callback(...(hasInput ? [argsFor(operation, given[0])] : []), withSignal(context, stop)),
      );
    };
    return inner.registerTool.call(server, name, config, governed);
  };
  const tool = () => {
    throw new ReeveInvalidRequest('tool: is not governed; use registerTool');
  };
  return standInFor(server, { registerTool, tool });
}

/** The context with the signal where the callback looks for it. */
function withSignal(context: CallContext, signal: AbortSignal): CallContext {
  const { mcpReq } = context;
  return mcpReq === undefined ? { ...context, signal } : { ...context, mcpReq: { ...mcpReq, signal } };
}
