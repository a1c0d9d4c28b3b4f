import type { Agent } from '../agent.ts';
import type { Answer } from '../answer.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { MaskedError } from '../result-denied.ts';
import { copyWith } from './copy-with.ts';
import { askFirst, idsOfCall } from './first-ask.ts';
import type { ToolUse } from './govern-call.ts';
import { argsFor, governTool } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { partOf } from './langchain-result.ts';
import { orStopped } from './open-call.ts';
import type { Refusal } from './refusal.ts';
import { refusalOfAnswer } from './refusal.ts';

export { governModel } from './langchain-model.ts';
export type { GovernModelOptions } from './model-call.ts';
export type { GovernOptions } from './govern-options.ts';
export type { SubagentLimits } from './subagents.ts';
export { asSubagent } from './subagents.ts';

/** The part of a tool of LangChain that governance needs. `_call` gets the arguments as the tool's schema has parsed them. */
interface LangChainTool {
  readonly name: string;
}

/** A toolkit. */
interface Toolkit {
  readonly tools: readonly LangChainTool[];
}

export interface LangChainGovernOptions extends GovernOptions {
  /**
   * LangGraph's `interrupt`, for graphs with a checkpointer: a held call interrupts the graph in place of waiting. When the
   * graph is resumed, the call is asked about again, as the same operation.
   */
  readonly interrupt?: ((value: HeldCall) => unknown) | undefined;
}

/** What an interrupted graph tells. */
export interface HeldCall {
  readonly kind: 'reeve_approval';
  readonly tool: string;
  readonly args: unknown;
  readonly reason: string;
  readonly approval_id: string | undefined;
  readonly op_id: string;
}

interface Config {
  readonly signal?: AbortSignal | undefined;
  readonly configurable?: Readonly<Record<string, unknown>> | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

type Call = (args: unknown, manager?: unknown, config?: Config) => unknown;

/**
 * Governs tools of LangChain: one, a list, or a toolkit. They keep their class, their schema and their types. The model
 * reads the reason of a refusal as the tool's answer.
 */
export function govern<Tools extends LangChainTool | readonly LangChainTool[] | Toolkit>(
  agent: Agent,
  tools: Tools,
  options: LangChainGovernOptions = {},
): Tools {
  if (isList(tools)) return tools.map((tool) => governOne(agent, tool, options)) as unknown as Tools;
  if (!isToolkit(tools)) return governOne(agent, tools, options) as Tools;
  return copyWith(tools, { tools: tools.tools.map((tool) => governOne(agent, tool, options)) });
}

function governOne<Tool extends LangChainTool>(agent: Agent, tool: Tool, options: LangChainGovernOptions): Tool {
  const inner = (tool as { readonly _call?: Call })._call;
  if (typeof inner !== 'function') {
    throw new ReeveInvalidRequest(
      `the tool ${tool.name} has no "_call": it does not run here, so it cannot be governed here`,
    );
  }
  const isPaired = (tool as { responseFormat?: unknown }).responseFormat === 'content_and_artifact';
  const answerOf = ({ text, kind }: Refusal) => (isPaired ? [text, { reeve: kind }] : text);
  const _call: Call = async (args, manager, config = {}) => {
    const use: ToolUse = { tool: tool.name, args, takesArgs: true, runId: runOf(config), signal: config.signal };
    const ids = await continued(agent, use, config, options);
    if (ids !== undefined && 'refusal' in ids) return answerOf(ids.refusal);
    let steering: { readonly error: unknown } | undefined;
    const work = async (signal: AbortSignal, operation: Operation) => {
      try {
        const given = await inner.call(tool, argsFor(operation, args), manager, { ...config, signal });
        return await wholeOf(given, manager, operation);
      } catch (error) {
        if (isForGraph(error)) steering = { error };
        throw error;
      }
    };
    try {
      const outcome = await governTool(agent, { ...use, ids }, options, work, partOf(isPaired));
      return 'refusal' in outcome ? answerOf(outcome.refusal) : outcome.result;
    } catch (error) {
      if (steering === undefined || !(error instanceof MaskedError)) throw error;
      throw steering.error;
    }
  };
  return copyWith(tool, { _call });
}

/** Whether LangGraph stops or steers a graph by the error. No model reads it, so that it stays what it is. */
function isForGraph(error: unknown): boolean {
  return error instanceof Error && (error as { is_bubble_up?: unknown }).is_bubble_up === true;
}

/** The result of a tool. One that yields runs to its end here, as LangChain does it, because it works until then. */
async function wholeOf(given: unknown, manager: unknown, { signal, checkpoint, answer }: Operation): Promise<unknown> {
  if (!isGenerator(given)) return given;
  const { handleToolEvent } = (manager ?? {}) as { handleToolEvent?: (event: unknown) => unknown };
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await orStopped(given.next(), signal);
      isOver = done === true;
      if (isOver) return value;
      await checkpoint();
      // Only what was judged is told, and that is the whole.
      if (answer.judgeResult) continue;
      // Whoever listens to a tool cannot make it fail.
      await Promise.resolve(handleToolEvent?.call(manager, value)).catch(() => {});
    }
  } finally {
    // Not awaited: a tool that does not heed its signal must not hold up the end.
    if (!isOver) void given.return(undefined).catch(() => {});
  }
}

/** Interrupts the graph while the call is held. Afterwards the call goes on as the operation that was asked about. */
async function continued(agent: Agent, use: ToolUse, config: Config, options: LangChainGovernOptions) {
  const { interrupt } = options;
  const callId = config.toolCall?.id;
  if (interrupt === undefined || callId === undefined) return undefined;
  const ids = idsOfCall(use.runId, callId);
  const answer = await askFirst(agent, { ...use, ids }, options);
  if (answer.decision === 'deny') return { refusal: refusalOfAnswer(answer) };
  if (answer.decision === 'pending') interrupt(heldCall(use, answer));
  return ids;
}

function heldCall({ tool, args }: ToolUse, { reason, approvalId, opId }: Answer): HeldCall {
  return { kind: 'reeve_approval', tool, args, reason, approval_id: approvalId, op_id: opId };
}

/** The thread of a graph is a piece of work that people know by its name. */
export function runOf({ configurable, metadata }: Config): string | undefined {
  const thread = configurable?.['thread_id'] ?? metadata?.['thread_id'];
  return typeof thread === 'string' ? thread : undefined;
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return (
    typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value && 'return' in value
  );
}

function isList(tools: unknown): tools is readonly LangChainTool[] {
  return Array.isArray(tools);
}

function isToolkit(tools: object): tools is Toolkit {
  return 'tools' in tools && Array.isArray(tools.tools);
}
