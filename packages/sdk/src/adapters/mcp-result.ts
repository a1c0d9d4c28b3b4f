import type { Agent } from '../agent.ts';
import type { GovernedWork, ToolUse } from './govern-call.ts';
import { governTool, isStopped } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import type { Refusal } from './refusal.ts';
import { stopped } from './refusal.ts';

export interface McpGovernOptions extends Omit<GovernOptions, 'source'> {
  /** The name of the server. Policies see it as the source of its tools. */
  readonly server: string;
  /** Whether `listTools` also lists tools that policy denies whatever their arguments. Default false. */
  readonly showDenied?: boolean | undefined;
}

/** The result of a call that did not happen, or whose result is not given: the same as by `reeve mcp run`. */
export function refusedResult({ kind, text, reason, policyRule, opId }: Refusal) {
  const decision = kind === 'waiting' ? 'pending' : 'deny';
  return {
    content: [{ type: 'text' as const, text }],
    isError: true,
    _meta: { 'reeve.dev/decision': { decision, reason, policy_rule: policyRule, op_id: opId } },
  };
}

/** Governs a call whose result is one of MCP. A result that says `isError` is a failure. A stop is a result, too. */
export async function governMcpCall(
  agent: Agent,
  use: ToolUse,
  options: GovernOptions,
  work: GovernedWork<unknown>,
): Promise<unknown> {
  try {
    const outcome = await governTool(agent, use, options, async (signal, operation) => {
      const result = await work(signal, operation);
      if ((result as { readonly isError?: unknown } | undefined)?.isError === true) operation.ended('failed');
      return result;
    });
    return 'refusal' in outcome ? refusedResult(outcome.refusal) : outcome.result;
  } catch (error) {
    if (isStopped(error)) return refusedResult(stopped(error));
    throw error;
  }
}
