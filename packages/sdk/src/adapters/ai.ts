import type { Agent } from '../agent.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import { copyWith } from './copy-with.ts';
import { askFirst, idsOfCall } from './first-ask.ts';
import type { ToolUse } from './govern-call.ts';
import { argsFor, changesIn, governTool, toolAction } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { runIdOf } from './govern-options.ts';
import { openCall, partsOf } from './open-call.ts';
import { refusalError } from './refusal.ts';

export { governModel } from './ai-model.ts';
export type { GovernModelOptions } from './model-call.ts';
export type { GovernOptions } from './govern-options.ts';

/** The part of a tool of the AI SDK that governance needs. */
interface AiTool {
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
  readonly inputSchema?: unknown;
  readonly name?: unknown;
}

export interface AiGovernOptions extends GovernOptions {
  /** The name of a single tool. In a set, its key is the name. */
  readonly name?: string | undefined;
  /**
   * Whether a held call ends the step with a `tool-approval-request` in place of waiting. Approve it at the gateway, answer
   * with a `tool-approval-response`, and generate again: the call is asked about as the same operation. Needs a `runId`,
   * because ids of calls are unique within a run only.
   */
  readonly interrupt?: boolean | undefined;
}

interface ExecutionOptions {
  readonly toolCallId?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

type NeedsApproval = boolean | ((input: unknown, options: ExecutionOptions) => boolean | PromiseLike<boolean>);

type Execute = (input: unknown, options?: ExecutionOptions) => unknown;

/**
 * Governs tools of the AI SDK: a set of them, or one with its name. They keep their types. A call that is refused throws, so
 * the model reads the reason as the error of the tool.
 */
export function govern<Tools extends AiTool | Readonly<Record<string, AiTool>> | readonly AiTool[]>(
  agent: Agent,
  tools: Tools,
  options: AiGovernOptions = {},
): Tools {
  if (isList(tools)) return tools.map((tool) => governOne(agent, nameOf(tool), tool, options)) as unknown as Tools;
  if (isTool(tools)) return governOne(agent, options.name ?? nameOf(tools), tools, options);
  const governed = Object.entries<AiTool>(tools).map(
    ([name, tool]) => [name, governOne(agent, name, tool, options)] as const,
  );
  return Object.fromEntries(governed) as Tools;
}

function governOne<Tool extends AiTool>(
  agent: Agent,
  name: string | undefined,
  tool: Tool,
  options: AiGovernOptions,
): Tool {
  if (name === undefined) {
    throw new ReeveInvalidRequest('name: a single tool of the AI SDK needs one: govern(agent, tool, { name: … })');
  }
  const execute = tool.execute as Execute | undefined;
  if (execute === undefined) {
    throw new ReeveInvalidRequest(
      `the tool ${name} has no "execute": it does not run here, so it cannot be governed here`,
    );
  }
  const useOf = (input: unknown, { toolCallId, abortSignal }: ExecutionOptions = {}): ToolUse => ({
    tool: name,
    args: input,
    takesArgs: true,
    signal: abortSignal,
    ids: options.interrupt === true && toolCallId !== undefined ? idsOfCall(runIdOf(options), toolCallId) : undefined,
  });
  const needsApproval = async (input: unknown, how: ExecutionOptions) => {
    const { needsApproval: own = false } = tool as { readonly needsApproval?: NeedsApproval };
    if (typeof own === 'function' ? await own.call(tool, input, how) : own) return true;
    return (await askFirst(agent, useOf(input, how), options)).decision === 'pending';
  };
  const run = (input: unknown, how: ExecutionOptions | undefined, signal: AbortSignal) =>
    execute.call(tool, input, { ...how, abortSignal: signal });
  const once = async (input: unknown, how?: ExecutionOptions) => {
    const outcome = await governTool(agent, useOf(input, how), options, (signal, operation) =>
      lastOf(run(argsFor(operation, input), how, signal)),
    );
    if ('refusal' in outcome) throw refusalError(outcome.refusal);
    return outcome.result;
  };
  const stream = async function* streamed(input: unknown, how?: ExecutionOptions) {
    const use = useOf(input, how);
    const changeOf = changesIn(use);
    const call = await openCall(agent, toolAction(agent, use, options), (signal, operation) => {
      const change = changeOf(operation);
      if (change !== undefined) throw refusalError(change);
      return { parts: run(argsFor(operation, input), how, signal) as AsyncIterable<unknown> };
    });
    yield* partsOf(call, call.opened.parts, (part) => {
      const micros = options.spent?.(name, part);
      if (micros !== undefined) call.operation.spent(micros);
    });
  };
  // The AI SDK shows what a generator yields as preliminary results, so a generator stays one.
  const isStream = Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
  const governed = isStream ? stream : once;
  return copyWith(tool, options.interrupt === true ? { execute: governed, needsApproval } : { execute: governed });
}

/** The last value of a stream, which is the result of a tool. */
async function lastOf(given: unknown): Promise<unknown> {
  const value = await given;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const part of value as AsyncIterable<unknown>) last = part;
  return last;
}

function isList(tools: unknown): tools is readonly AiTool[] {
  return Array.isArray(tools);
}

/** A set has tools as its members, also under names such as `execute`. */
function isTool(tools: object): tools is AiTool {
  if ('execute' in tools && typeof tools.execute === 'function') return true;
  if (!('inputSchema' in tools)) return false;
  const { inputSchema: schema } = tools;
  return typeof schema !== 'object' || schema === null || !isTool(schema);
}

function nameOf({ name }: AiTool): string | undefined {
  return typeof name === 'string' ? name : undefined;
}
