import type { AgentId } from '../agent-id.ts';
import type { SubagentLimits } from './subagents.ts';

/** How the calls of governed tools are checked. The same for every framework. */
export interface GovernOptions {
  /**
   * How long a held call waits: for its approval, or for the end of a pause. Default 50 seconds, below the usual limits of
   * models and clients. 0 does not wait.
   */
  readonly approvalWaitMs?: number | undefined;
  /** The run that the calls belong to. Otherwise the framework's own, or that of the governed call around this one. */
  readonly runId?: string | (() => string | undefined) | undefined;
  /** The origin of the tools, such as the name of an MCP server. */
  readonly source?: string | undefined;
  /** What a call costs at most, in micro-dollars, by tool. Reserved until the call ends. See `usd`. */
  readonly costs?: Readonly<Record<string, number>> | ((tool: string, args: unknown) => number | undefined) | undefined;
  /** What a call really cost, in micro-dollars. A tool can also tell: `currentOperation()?.spent(…)`. */
  readonly spent?: ((tool: string, result: unknown) => number | undefined) | undefined;
  /** One line for the people who watch. */
  readonly summary?: ((tool: string, args: unknown) => string) | undefined;
  /** The names of the tools that start another agent. Their calls are checked as `agent_spawn`, with the name as command. */
  readonly subagents?: readonly string[] | undefined;
  /**
   * What those of them may do at most that act as delegates of this agent, by the name of the tool; of a handoff, by the name
   * of the agent. Until such a call ends, all that is governed for this agent is done by the delegate. The others act as the
   * agent itself.
   */
  readonly delegates?: Readonly<Record<string, SubagentLimits>> | undefined;
  /** The agent on whose behalf this one acts. Otherwise the one of the governed call around this one. */
  readonly caller?: AgentId | undefined;
}

const defaultWaitMs = 50_000;

export function approvalWaitOf({ approvalWaitMs = defaultWaitMs }: Pick<GovernOptions, 'approvalWaitMs'>): number {
  return approvalWaitMs;
}

export function costOf({ costs }: Pick<GovernOptions, 'costs'>, tool: string, args: unknown): number | undefined {
  if (typeof costs === 'function') return costs(tool, args);
  return costs !== undefined && Object.hasOwn(costs, tool) ? costs[tool] : undefined;
}

export function limitsOf({ delegates }: Pick<GovernOptions, 'delegates'>, name: string): SubagentLimits | undefined {
  return delegates !== undefined && Object.hasOwn(delegates, name) ? delegates[name] : undefined;
}

export function runIdOf({ runId }: Pick<GovernOptions, 'runId'>): string | undefined {
  return typeof runId === 'function' ? runId() : runId;
}
