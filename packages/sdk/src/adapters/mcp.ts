import type { Agent } from '../agent.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import { ResultDenied } from '../result-denied.ts';
import { standInFor } from './copy-with.ts';
import type { ToolUse } from './govern-call.ts';
import { McpConnection } from './mcp-connection.ts';
import type { McpGovernOptions } from './mcp-result.ts';
import { governMcpCall } from './mcp-result.ts';

export { governServer } from './mcp-server.ts';
export type { GovernOptions } from './govern-options.ts';
export type { McpGovernOptions } from './mcp-result.ts';
export { refusedResult } from './mcp-result.ts';
export type { KnownNotification } from './mcp-wordless.ts';
export { subscriptionKey, wordlessParams } from './mcp-wordless.ts';
export type { Refusal } from './refusal.ts';
export { away, denied, refusalOf, stopped } from './refusal.ts';

/** The part of an MCP client that governance needs. The official clients, 1.x and 2.x, have it. */
interface McpClient {
  callTool(params: never, ...rest: never[]): Promise<unknown>;
}

interface CallParams {
  readonly name: string;
  readonly arguments?: unknown;
  readonly task?: unknown;
}

interface ListedTool {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

type Method = (...args: unknown[]) => unknown;

const asTask = 'as that of a task, where nobody judges it';

/** Ways around `callTool`: of the client itself, and of its experimental part. */
const streamed = new Set(['callToolStream', 'requestStream']);

/**
 * Governs the calls of an MCP client: it stays the client that it is. A refusal is a result with `isError`, whose text says
 * why, as from `reeve mcp run`.
 */
export function govern<Client extends McpClient>(agent: Agent, client: Client, options: McpGovernOptions): Client {
  const { server, showDenied = false, ...rest } = options;
  const inner = client as unknown as Readonly<Record<string, Method>>;
  const listed = new Map<string, ListedTool>();
  const toolOptions = { ...rest, source: server };
  const connection = new McpConnection();
  const watch = () => connection.watch((client as { readonly transport?: unknown }).transport);
  watch();
  const governed = (method: string, params: CallParams, args: unknown[], at: number) => {
    const options = (args[at] ?? {}) as { readonly signal?: AbortSignal; readonly task?: unknown };
    const { name: tool, arguments: given } = params;
    // What was checked is sent, whatever becomes of the caller's own object.
    const checked = { ...params };
    const use: ToolUse = {
      tool,
      args: given,
      takesArgs: true,
      annotations: listed.get(tool)?.annotations,
      signal: options.signal,
      runId: sessionOf(client),
      unjudgeable:
        (params.task ?? options.task) === undefined ? undefined : `the call wants its result later, ${asTask}`,
    };
    return governMcpCall(agent, use, toolOptions, async (stop, { id: opId, answer }) => {
      const { rewrittenArgs, judgeResult } = answer;
      watch();
      if (judgeResult) connection.judge();
      const sent = rewrittenArgs === undefined ? checked : { ...checked, arguments: rewrittenArgs };
      const first = method === 'request' ? { ...(args[0] as object), params: sent } : sent;
      const passed = [first, ...args.slice(1)];
      passed[at] = { ...options, signal: stop };
      const result = await inner[method]?.apply(client, passed);
      const task = taskOf(result);
      if (task === undefined) return result;
      if (judgeResult) {
        throw new ResultDenied({ opId, reason: `the server gives the result later, ${asTask}`, source: 'sdk' });
      }
      connection.free(task['taskId']);
      return result;
    });
  };
  // 1.x has a schema before the options. Its parameter has a default, so it does not count.
  const optionsAt = inner['callTool']?.length === 2 ? 1 : 2;
  const callTool: Method = (...args) => governed('callTool', args[0] as CallParams, args, optionsAt);
  const request: Method = (...args) => {
    const { method, params } = args[0] as { readonly method: string; readonly params: CallParams };
    if (method !== 'tools/call') return inner['request']?.apply(client, args);
    return governed('request', params, args, args.length > 2 || hasSchema(args[1]) ? 2 : 1);
  };
  const connect: Method = async (...args) => {
    const connecting = inner['connect']?.apply(client, args);
    watch();
    await connecting;
    watch();
  };
  const listTools: Method = async (...args) => {
    const page = (await inner['listTools']?.apply(client, args)) as { readonly tools: readonly ListedTool[] };
    for (const tool of page.tools) listed.set(tool.name, tool);
    const names = page.tools.map(({ name }) => name);
    // If nobody can say what is denied, the list is whole: calls are refused all the same.
    const denied = showDenied ? [] : await agent.deniedTools(server, names).catch(() => []);
    return { ...page, tools: page.tools.filter(({ name }) => !denied.includes(name)) };
  };
  const { experimental } = client as { readonly experimental?: unknown };
  const refused = [...streamed].map((name) => [name, notGoverned(name)] as const);
  const methods = { callTool, request, connect, listTools, experimental: withoutStreams(experimental) };
  return standInFor(client, { ...Object.fromEntries(refused), ...methods });
}

function notGoverned(name: string): () => never {
  return () => {
    throw new ReeveInvalidRequest(`${name}: is not governed; use callTool`);
  };
}

/** Streams of tool calls would pass by. Whoever wants one hears so. */
function withoutStreams(experimental: unknown): unknown {
  if (typeof experimental !== 'object' || experimental === null) return undefined;
  return new Proxy(experimental, {
    get(target, name) {
      if (typeof name === 'string' && streamed.has(name)) return notGoverned(name);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value === 'function') return value.bind(target) as unknown;
      return typeof value === 'object' && value !== null ? withoutStreams(value) : value;
    },
  });
}

/** The task as which a server gives a result later, if it does. */
function taskOf(result: unknown): Readonly<Record<string, unknown>> | undefined {
  const { task, resultType } = (result ?? {}) as { readonly task?: unknown; readonly resultType?: unknown };
  if (typeof task === 'object' && task !== null) return task as Readonly<Record<string, unknown>>;
  return resultType === 'task' ? (result as Readonly<Record<string, unknown>>) : undefined;
}

function hasSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('parse' in value || '~standard' in value || '_zod' in value);
}

/** A session over HTTP is a run, unless the caller has a better name for it. */
function sessionOf(client: unknown): string | undefined {
  const { transport } = client as { readonly transport?: { readonly sessionId?: unknown } | undefined };
  return typeof transport?.sessionId === 'string' ? transport.sessionId : undefined;
}
