import type { Agent } from '../agent.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import { opIdOf } from '../trace-ids.ts';
import { copyWith } from './copy-with.ts';
import { askFirst, idsOfCall } from './first-ask.ts';
import type { ToolUse } from './govern-call.ts';
import { governTool } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { limitsOf, runIdOf } from './govern-options.ts';
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

/** A handoff to another agent. */
interface AgentsHandoff {
  readonly toolName: string;
  readonly agentName: string;
  readonly onInvokeHandoff: (context: never, args: string) => unknown;
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

/** What was governed, and how. Who takes over runs the same tools, as another agent. */
const governed = new WeakMap<object, { readonly tool: AgentsTool; readonly options: OpenAiAgentsGovernOptions }>();

/** An agent of the OpenAI Agents SDK to which a run is handed off. */
interface TakingOver {
  readonly name: string;
  readonly tools: readonly AgentsTool[];
  readonly handoffs: readonly object[];
  clone(config: object): TakingOver;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
}

/** Agents that act by a delegation. A part that is handed on within one ends with the whole. */
const parts = new WeakSet<object>();

/** How the part of whoever hands off ends, if it acts by a delegation itself. */
type Ending = () => Promise<void>;

/**
 * The agent that takes over, acting as a delegate until it has answered, or hands off to one that is none: its tools and its
 * handoffs are governed for the delegate, with limits of their own.
 */
async function takeOver(
  agent: Agent,
  next: TakingOver,
  limits: SubagentLimits,
  options: OpenAiAgentsGovernOptions,
  outer: Ending | undefined,
): Promise<TakingOver> {
  const { agent: delegate, end } = await beginSubagent(agent, next.name, limits);
  const tools = next.tools.map((tool) => {
    const known = governed.get(tool);
    return governFunction(delegate, known?.tool ?? tool, known?.options ?? options);
  });
  const over: Ending = async () => {
    await end();
    await outer?.();
  };
  const handoffs = next.handoffs.map((each) => (isHandoff(each) ? governHandoff(delegate, each, options, over) : each));
  const part = next.clone({ tools, handoffs });
  parts.add(part);
  part.on('agent_end', () => void over());
  part.on('agent_handoff', (_context, to) => {
    if (!parts.has(to as object)) void over();
  });
  return part;
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
    const use: ToolUse = { tool: name, args, written: input, signal, ids };
    const outcome = await governTool(agent, use, options, (stop) =>
      inner.invoke.call(tool, context, input, copyWith(details, { signal: stop })),
    );
    return 'refusal' in outcome ? outcome.refusal.text : outcome.result;
  };
  const needsApproval: FunctionTool['needsApproval'] = async (context, input, callId) => {
    if ((await inner.needsApproval?.call(tool, context, input, callId)) === true) return true;
    const ids = idsOf(callId);
    if (ids === undefined) return false;
    const [oldest] = asked.keys();
    if (oldest !== undefined && asked.size >= mostAsked) asked.delete(oldest);
    asked.set(opIdOf(ids), input);
    return (await askFirst(agent, { tool: name, args: input, ids }, options)).decision === 'pending';
  };
  const copy = copyWith(tool, options.interrupt === true ? { invoke, needsApproval } : { invoke });
  governed.set(copy, { tool, options });
  return copy;
}

function governHandoff<Handoff extends AgentsHandoff>(
  agent: Agent,
  handoff: Handoff,
  options: OpenAiAgentsGovernOptions,
  outer?: Ending,
): Handoff {
  const { toolName: tool } = handoff;
  const limits = limitsOf(options, handoff.agentName);
  const inner = handoff.onInvokeHandoff as (context: unknown, args: string) => unknown;
  const onInvokeHandoff = async (context: unknown, args: string) => {
    const spawning = { ...options, delegates: undefined, subagents: [tool] };
    const outcome = await governTool(agent, { tool, args: parsed(args), written: args }, spawning, () =>
      inner.call(handoff, context, args),
    );
    if ('refusal' in outcome) throw refusalError(outcome.refusal);
    return limits === undefined
      ? outcome.result
      : takeOver(agent, outcome.result as TakingOver, limits, options, outer);
  };
  return copyWith(handoff, { onInvokeHandoff });
}

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

function isHandoff(tool: object): tool is AgentsHandoff {
  return 'onInvokeHandoff' in tool;
}
