import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { IdentityFlags } from '../agent-identity/resolve-agent.ts';
import { parseAgentName } from '../agent-identity/agent-name.ts';
import { CliError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import { callableContext } from '../context/active-context.ts';
import { clientFor } from '../http/connect.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

export interface Start {
  readonly command: readonly string[];
  readonly folder: string;
  readonly runId: string | undefined;
  readonly flags: IdentityFlags;
}

type Simulated = RouteOutput<Routes['simulatePolicy']>;

/** What policy would say of the start, or why nobody knows. */
export type PolicyOfStart =
  | Pick<Simulated, 'decision' | 'reason' | 'policy_rule' | 'policy_version' | 'approvals'>
  | { readonly unknown: string };

/**
 * Asks the gateway as the person, by the route that records nothing. The token of an agent cannot ask without an operation,
 * and does not say by itself whose it is.
 */
export async function policyOfStart(shell: Shell, globals: GlobalValues, start: Start): Promise<PolicyOfStart> {
  const { agent: flag, agentTokenFile } = start.flags;
  const hasToken =
    agentTokenFile !== undefined || (flag === undefined && variable(shell, 'REEVE_AGENT_TOKEN') !== undefined);
  const name = hasToken ? undefined : (flag ?? variable(shell, 'REEVE_AGENT'));
  if (name === undefined) {
    return { unknown: 'a token cannot ask without an operation; name the agent by --agent ORG/TEAM/AGENT' };
  }
  const agent = parseAgentName(name, flag === undefined ? 'REEVE_AGENT' : '--agent');
  const [command = '', ...args] = start.command;
  try {
    const context = await callableContext(shell, globals);
    if (context.apiKey === undefined && context.session === undefined) {
      return { unknown: 'set REEVE_API_KEY to a key with the scope read, or run "reeve login"' };
    }
    const answer = await clientFor(shell, context, globals.timeout).call('simulatePolicy', {
      body: {
        agent: { org_id: agent.orgId, team_id: agent.teamId, agent_id: agent.agentId },
        action_type: 'process_exec',
        context: { command, args, working_dir: start.folder },
        ...(start.runId === undefined ? {} : { run_id: start.runId }),
      },
    });
    const { decision, reason, policy_rule: rule, policy_version: version, approvals } = answer;
    return { decision, reason, policy_rule: rule, policy_version: version, approvals };
  } catch (error) {
    if (error instanceof CliError) return { unknown: error.message };
    throw error;
  }
}

/** The same in one line. */
export function policyText(policy: PolicyOfStart): string {
  if ('unknown' in policy) return `not known: ${policy.unknown}`;
  const { decision, reason, policy_rule: rule, policy_version: version } = policy;
  return `${decision} by ${rule}: ${reason} (policy ${version})`;
}
