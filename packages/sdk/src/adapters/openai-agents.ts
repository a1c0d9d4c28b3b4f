import type { Agent } from '../agent.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import { opIdOf } from '../trace-ids.ts';
import { copyWith } from './copy-with.ts';
import { askFirst, idsOfCall } from './first-ask.ts';
import type { JudgedPart, ToolUse } from './govern-call.ts';
import { governTool } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { limitsOf, runIdOf } from './govern-options.ts';
import type { AgentsHandoff, PartOfRun } from './openai-agents-part.ts';
import { handoffTo, isHandoff, partOf } from './openai-agents-part.ts';
import { refusalError } from './refusal.ts';
import type { SubagentLimits } from './subagents.ts';
import { beginSubagent } from './subagents.ts';

export { governModel } from './openai-agents-model.ts';
export type { GovernModelOptions } from './model-call.ts';
export type { GovernOptions } from './govern-options.ts';

/** The part of a tool of the OpenAI Agents SDK that governance needs. */
interface AgentsTool {
  readonly type: string;
  readonly name: string;
}

export interface OpenAiAgentsGovernOptions extends GovernOptions {
  /**
   * Whether a held call interrupts the run in place of waiting (`result.interruptions`). Approve it at the gateway, then by
   * `state.approve(…)`, and run again: the call is asked about as the same operation.
   */
  readonly interrupt?: boolean | undefined;
}

interface Details {
  readonly toolCall?: { readonly callId?: string | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface FunctionTool extends AgentsTool {
  readonly invoke: (context: unknown, input: string, details?: Details) => Promise<unknown>;
  readonly needsApproval?: (context: unknown, input: unknown, callId?: string) => Promise<boolean>;
}

/** More calls than any run has waiting. Those beyond are asked about with the arguments of the model. */
const mostAsked = 1000;

/**
 * Governs tools and handoffs of the OpenAI Agents SDK: one, or a list. They keep their types. The model reads the reason of
 * a refusal as the tool's answer. A handoff is checked as `agent_spawn`; a refused one ends the run with an error.
 */
export function govern<Tools extends AgentsTool | AgentsHandoff | readonly (AgentsTool | AgentsHandoff)[]>(
  agent: Agent,
  tools: Tools,
  options: OpenAiAgentsGovernOptions = {},
): Tools {
  const one = (tool: AgentsTool | AgentsHandoff) =>
    isHandoff(tool) ? governHandoff(agent, tool, options) : governFunction(agent, tool, options);
  return (isList(tools) ? tools.map(one) : one(tools)) as unknown as Tools;
}

/** What was governed, and how. Who takes over has the same tools and handoffs, as another agent. */
const governed = new WeakMap<object, { readonly given: object; readonly options: OpenAiAgentsGovernOptions }>();

function originalOf<Given extends object>(given: Given, options: OpenAiAgentsGovernOptions) {
  return (governed.get(given) ?? { given, options }) as {
    readonly given: Given;
    readonly options: OpenAiAgentsGovernOptions;
  };
}

/** An agent of the OpenAI Agents SDK to which a run is handed off. */
interface TakingOver extends PartOfRun {
  readonly tools: readonly AgentsTool[];
}

/** Where a part of a run that acts by a delegation came from. */
interface Around {
  /** The handoff by which the agent itself gave the run away. Whoever has it is no delegate. */
  readonly entry: object;
  /** Ends the parts around this one. */
  readonly end: () => Promise<void>;
}

/**
 * The agent that takes over, acting as a delegate until it has answered, or hands back to who started: its tools, its model
 * and its handoffs run as the delegate. Whoever takes over from it is a delegate of it, with limits of their own or with its.
 */
async function takeOver(
  agent: Agent,
  next: TakingOver,
  limits: SubagentLimits,
  options: OpenAiAgentsGovernOptions,
  around: Around,
): Promise<TakingOver> {
  const subagent = await beginSubagent(agent, next.name, limits);
  const end = async () => {
    await subagent.end();
    await around.end();
  };
  try {
    const tools = next.tools.map((tool) => {
      const own = originalOf(tool, options);
      return governFunction(subagent.agent, own.given, own.options);
    });
    const handoffs = next.handoffs.map((each) => {
      const own = originalOf(isHandoff(each) ? each : handoffTo(each, around.entry), options);
      return governHandoff(subagent.agent, own.given, own.options, { entry: around.entry, end });
    });
    return partOf(next, subagent, { tools, handoffs }, end);
  } catch (error) {
    await end();
    throw error;
  }
}

function governFunction<Tool extends AgentsTool>(agent: Agent, tool: Tool, options: OpenAiAgentsGovernOptions): Tool {
  const { name, type } = tool;
  if (type !== 'function') {
    throw new ReeveInvalidRequest(`the tool ${name} is of the type "${type}": only functions can be governed here`);
  }
  const inner = tool as unknown as FunctionTool;
  const idsOf = (callId: string | undefined) =>
    options.interrupt === true && callId !== undefined && callId !== ''
      ? idsOfCall(runIdOf(options), callId)
      : undefined;
  /**
   * The arguments that were asked about, by operation. The schema may have changed them, and the operation is bound to what
   * was asked. Calls of other runs may have the same id.
   */
  const asked = new Map<string, unknown>();
  const invoke: FunctionTool['invoke'] = async (context, input, details = {}) => {
    const { signal, toolCall: { callId = '' } = {} } = details;
    const ids = idsOf(callId);
    const opId = ids === undefined ? '' : opIdOf(ids);
    const args = asked.get(opId) ?? parsed(input);
    asked.delete(opId);
    const use: ToolUse = { tool: name, args, written: input, takesArgs: true, signal, ids };
    const outcome = await governTool(agent, use, options, (stop, { answer: { rewrittenArgs } }) => {
      const written = rewrittenArgs === undefined ? input : JSON.stringify(rewrittenArgs);
      return inner.invoke.call(tool, context, written, copyWith(details, { signal: stop }));
    });
    return 'refusal' in outcome ? outcome.refusal.text : outcome.result;
  };
  const needsApproval: FunctionTool['needsApproval'] = async (context, input, callId) => {
    if ((await inner.needsApproval?.call(tool, context, input, callId)) === true) return true;
    const ids = idsOf(callId);
    if (ids === undefined) return false;
    const [oldest] = asked.keys();
    if (oldest !== undefined && asked.size >= mostAsked) asked.delete(oldest);
    asked.set(opIdOf(ids), input);
    return (await askFirst(agent, { tool: name, args: input, takesArgs: true, ids }, options)).decision === 'pending';
  };
  const copy = copyWith(tool, options.interrupt === true ? { invoke, needsApproval } : { invoke });
  governed.set(copy, { given: tool, options });
  return copy;
}

function governHandoff<Handoff extends AgentsHandoff>(
  agent: Agent,
  handoff: Handoff,
  options: OpenAiAgentsGovernOptions,
  around?: Around,
): Handoff {
  const { toolName: tool } = handoff;
  const own = limitsOf(options, handoff.agentName);
  const inner = handoff.onInvokeHandoff as (context: unknown, args: string) => unknown;
  const onInvokeHandoff = async (context: unknown, args: string) => {
    const spawning = { ...options, delegates: undefined, subagents: [tool] };
    const use = { tool, args: parsed(args), written: args };
    const outcome = await governTool(agent, use, spawning, () => inner.call(handoff, context, args), bringsNothing);
    if ('refusal' in outcome) {
      await around?.end();
      throw refusalError(outcome.refusal);
    }
    const next = outcome.result as TakingOver;
    if (around === undefined) {
      return own === undefined ? next : takeOver(agent, next, own, options, { entry: copy, end: async () => {} });
    }
    if (next.handoffs.includes(around.entry)) {
      await around.end();
      return next;
    }
    return takeOver(agent, next, own ?? {}, options, around);
  };
  const copy = copyWith(handoff, { onInvokeHandoff });
  governed.set(copy, { given: handoff, options });
  return copy;
}

/** Whoever takes over is no result that a model reads. */
const bringsNothing: JudgedPart<unknown> = { of: () => undefined, put: (next) => next };

/** What the tool will parse, too. It refuses by itself what is no JSON. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

function isList(tools: unknown): tools is readonly (AgentsTool | AgentsHandoff)[] {
  return Array.isArray(tools);
}
