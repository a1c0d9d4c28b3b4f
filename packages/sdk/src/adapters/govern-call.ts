import { numberFaultIn } from '@reeve/contract/exact-numbers';
import type { Action } from '../action.ts';
import type { Agent } from '../agent.ts';
import type { Answer } from '../answer.ts';
import { callContext } from '../current-operation.ts';
import { OperationTerminatedError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { ResultDenied } from '../result-denied.ts';
import type { RunOptions } from '../run-options.ts';
import type { GovernOptions } from './govern-options.ts';
import { approvalWaitOf, costOf, limitsOf, runIdOf } from './govern-options.ts';
import type { Refusal } from './refusal.ts';
import { denied, refusalError, refusalOf, refusalOfRequest } from './refusal.ts';
import type { SubagentLimits } from './subagents.ts';
import { actingAs, asSubagent } from './subagents.ts';

/** What a framework tells of a call of a tool. */
export interface ToolUse {
  readonly tool: string;
  readonly args: unknown;
  /** The JSON text that the tool itself reads its arguments from, if the framework gives it one. */
  readonly written?: string | undefined;
  /** The run, as the framework knows it. */
  readonly runId?: string | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** Fires when nobody wants the result any more. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the tool is called with the arguments of the answer, where rules have rewritten them. */
  readonly takesArgs?: true | undefined;
  /** Why its result could not be judged, if policy wants to judge it. */
  readonly unjudgeable?: string | undefined;
  /** The operation that the call continues. Otherwise a new one. */
  readonly ids?: { readonly traceId: string; readonly spanId: string } | undefined;
}

/** An action of an agent, and how it is checked. */
export interface GovernedAction {
  readonly action: Action;
  readonly details: RunOptions;
  /** The sub-agent whose work it is, if that acts within limits of its own. */
  readonly subagent?: { readonly name: string; readonly limits: SubagentLimits } | undefined;
}

export type Governed<Result> = { readonly result: Result } | { readonly refusal: Refusal };

/** The body of a call. The signal fires on a termination, and when nobody wants the result any more. */
export type GovernedWork<Result> = (signal: AbortSignal, operation: Operation) => Result | Promise<Result>;

/**
 * The part of what a framework gives back that is judged, where that is not the whole. The rest is of the framework, or it is
 * left out where results are judged.
 */
export interface JudgedPart<Result> {
  readonly of: (result: Result) => unknown;
  /** The result with the part as it may be read. Only called if it was judged. */
  readonly put: (result: Result, part: unknown) => Result;
}

/** The check that a call of a tool needs. What the call itself says of its run counts before the call around it. */
export function toolAction(agent: Agent, use: ToolUse, options: GovernOptions): GovernedAction {
  const { tool, args, annotations } = use;
  const around = callContext.getStore();
  const limits = limitsOf(options, tool);
  const isSpawn = limits !== undefined || options.subagents?.includes(tool) === true;
  return {
    subagent: limits === undefined ? undefined : { name: tool, limits },
    action: isSpawn
      ? { type: 'agent_spawn', command: tool }
      : { tool, args: args ?? {}, source: options.source, annotations },
    details: {
      ...use.ids,
      runId: runIdOf(options) ?? use.runId ?? around?.runId,
      caller: options.caller ?? (around === undefined || isSame(around.agent, agent.id) ? undefined : around.agent),
      summary: options.summary?.(tool, args),
      estimatedCostMicros: costOf(options, tool, args),
      waitMs: approvalWaitOf(options),
      signal: use.signal,
      canRewrite: use.takesArgs === true,
    },
  };
}

/**
 * Has a call decided, and does it if it may happen. A refusal is a result, because the model is to read it. Throws what the
 * work throws, and `OperationTerminatedError` if an operator stopped the work.
 */
export async function governCall<Result>(
  governed: Agent,
  { action, details, subagent }: GovernedAction,
  work: GovernedWork<Result>,
  judged?: JudgedPart<Result>,
): Promise<Governed<Result>> {
  const { signal, runId } = details;
  const agent = actingAs(governed);
  let hasBegun = false;
  let held: Answer | undefined;
  let whole: { readonly result: Result; readonly isJudged: boolean } | undefined;
  const body = async (operation: Operation) => {
    hasBegun = true;
    const stop = signal === undefined ? operation.signal : AbortSignal.any([operation.signal, signal]);
    try {
      const result = await callContext.run({ operation, agent: agent.id, runId }, () =>
        subagent === undefined
          ? work(stop, operation)
          : asSubagent(agent, subagent.name, subagent.limits, () => work(stop, operation)),
      );
      if (judged === undefined) return result;
      whole = { result, isJudged: operation.answer.judgeResult };
      return judged.of(result);
    } catch (error) {
      if (signal?.aborted === true) operation.ended('cancelled');
      throw error;
    }
  };
  const onHeld = (answer: Answer) => {
    held = answer;
  };
  try {
    const given = await agent.run(action, body, { ...details, onHeld });
    if (judged === undefined || whole === undefined) return { result: given as Result };
    return { result: whole.isJudged ? judged.put(whole.result, given) : whole.result };
  } catch (error) {
    if (error instanceof ResultDenied) return { refusal: denied(error) };
    if (hasBegun) throw error;
    if (held !== undefined && !isStopped(error)) await callOff(agent, held);
    // The check may have arrived. A heartbeat brings the report that nothing happened.
    else if (signal?.aborted === true) void agent.heartbeat().catch(() => {});
    const refusal = refusalOf(error, held);
    if (refusal === undefined) throw error;
    return { refusal };
  }
}

/** As `governCall`, for a tool: it runs with the arguments that were checked, and what it cost is settled. */
export async function governTool<Result>(
  governed: Agent,
  use: ToolUse,
  options: GovernOptions,
  work: GovernedWork<Result>,
  judged?: JudgedPart<Result>,
): Promise<Governed<Result>> {
  const fault = numberFaultIn(use.written ?? '');
  if (fault !== undefined) return { refusal: refusalOfRequest(`args: ${fault}`) };
  const agent = actingAs(governed);
  const changeOf = changesIn(use);
  /** Why it does not happen, although it is allowed. */
  let change: Refusal | undefined;
  const body = async (signal: AbortSignal, operation: Operation) => {
    change = changeOf(operation) ?? unjudgeable(use, operation);
    if (change !== undefined) throw refusalError(change);
    const result = await work(signal, operation);
    const micros = options.spent?.(use.tool, result);
    if (micros !== undefined) operation.spent(micros);
    return result;
  };
  try {
    return await governCall(agent, toolAction(agent, use, options), body, judged);
  } catch (error) {
    if (change === undefined) throw error;
    return { refusal: change };
  }
}

/** The arguments to call a tool with: as rules have rewritten them, or else as the framework gave them. */
export function argsFor<Args>({ answer }: Operation, given: Args): Args {
  return answer.rewrittenArgs === undefined ? given : (answer.rewrittenArgs as Args);
}

/**
 * Remembers the arguments of a use. A call may be held for long, and whoever else has the arguments may change them
 * meanwhile. What is given back tells if so, and that the operation never happened.
 */
export function changesIn({ args }: ToolUse): (operation: Operation) => Refusal | undefined {
  const checked = textOf(args);
  return (operation) =>
    textOf(args) === checked
      ? undefined
      : calledOff(operation, 'the arguments were changed after they had been checked');
}

function unjudgeable(use: ToolUse, operation: Operation): Refusal | undefined {
  const reason = operation.answer.judgeResult ? use.unjudgeable : undefined;
  return reason === undefined ? undefined : calledOff(operation, reason);
}

function calledOff({ id, spent, ended }: Operation, reason: string): Refusal {
  spent(0);
  ended('cancelled');
  return denied({ reason, policyRule: '', opId: id });
}

/** Undefined if there is none. The check itself refuses such arguments, where it shows them to policies. */
function textOf(args: unknown): string | undefined {
  try {
    return JSON.stringify(args);
  } catch {
    return undefined;
  }
}

/** Whether the error says that an operator stopped the work of the call. */
export function isStopped(error: unknown): error is OperationTerminatedError {
  return error instanceof OperationTerminatedError;
}

/** Nobody waits for the held call any more. Its approval ends, so that nobody is asked in vain. */
async function callOff(agent: Agent, { opId }: Answer): Promise<void> {
  const detail = 'nobody waits for it any more';
  // If the gateway is away, the approval expires. If it was decided just now, the SDK reports that nothing happened.
  await agent.complete(opId, { outcome: 'cancelled', actualCostMicros: 0, detail }).catch(() => {});
}

function isSame(one: Agent['id'], other: Agent['id']): boolean {
  return one.orgId === other.orgId && one.teamId === other.teamId && one.agentId === other.agentId;
}
