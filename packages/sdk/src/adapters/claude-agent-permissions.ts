import { randomUUID } from 'node:crypto';
import type { Agent } from '../agent.ts';
import type { Completion, Outcome } from '../completion.ts';
import type { OperationControl } from '../operation.ts';
import { OperationTerminatedError } from '../errors.ts';
import { longestTimerMs } from '../process-hold.ts';
import { claudeAction } from './claude-agent-action.ts';
import { claudeSubagents } from './claude-agent-subagents.ts';
import type { GovernOptions } from './govern-options.ts';
import { approvalWaitOf, costOf, runIdOf } from './govern-options.ts';
import { idsOfCall } from './first-ask.ts';
import type { Refusal } from './refusal.ts';
import { away, denied, refusalOf, refusalOfAnswer, stopped } from './refusal.ts';
import type { SubagentLimits } from './subagents.ts';

export interface PermissionsOptions extends Pick<GovernOptions, 'approvalWaitMs' | 'runId' | 'costs' | 'spent'> {
  /** MCP servers whose tools `govern` checks already. */
  readonly governed?: readonly string[] | undefined;
  /** The `cwd` of the query, for uses that its hooks do not tell of. That of this process if it has none. */
  readonly cwd?: string | undefined;
  /**
   * What sub-agents act as, by their type: an agent of its own, or a delegate of this agent with these limits at most, which
   * ends with the sub-agent. Otherwise they act as the agent itself.
   */
  readonly subagents?: Readonly<Record<string, Agent | SubagentLimits>> | undefined;
  /** Ends the query when an operator terminates one of its operations: the `abortController` of the query. */
  readonly abortController?: AbortController | undefined;
}

type PermissionResult =
  | { behavior: 'allow'; updatedInput: Record<string, unknown> }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

interface HookInput {
  readonly hook_event_name: string;
  readonly session_id?: string;
  readonly cwd?: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  readonly tool_use_id?: string;
  readonly agent_type?: string;
  readonly agent_id?: string;
  readonly mcp_server?: Provenance;
  readonly tool_response?: unknown;
  readonly is_interrupt?: boolean;
}

interface CallOptions {
  readonly signal: AbortSignal;
}

/** The answer of a hook. Every member is optional, as in the Claude Agent SDK. */
interface HookOutput {
  continue?: boolean;
  stopReason?: string;
  hookSpecificOutput?: { hookEventName: 'PreToolUse'; permissionDecision: 'deny'; permissionDecisionReason: string };
}

type Hook = (input: HookInput, toolUseId: string | undefined, options: CallOptions) => Promise<HookOutput>;

interface Matcher {
  hooks: Hook[];
  timeout: number;
}

/** Spread into the options of `query`. */
export interface Permissions {
  canUseTool(
    tool: string,
    input: Record<string, unknown>,
    options: CallOptions & { readonly toolUseID?: string; readonly mcpServer?: Provenance; readonly agentID?: string },
  ): Promise<PermissionResult>;
  hooks: Record<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'SubagentStop' | 'SessionEnd', Matcher[]>;
}

/** A use of a tool that is asked about. */
interface AskedUse {
  readonly tool: string;
  readonly input: unknown;
  readonly id: string;
  readonly run?: string | undefined;
  readonly cwd?: string | undefined;
  readonly as: Agent;
  readonly signal: AbortSignal;
}

/** A use of a tool that may happen. */
interface OpenUse {
  readonly agent: Agent;
  readonly opId: string;
  readonly operation: OperationControl | undefined;
  readonly digest: string;
}

/** Where a tool of MCP comes from. The program itself is the only one that can be `sdk`. */
interface Provenance {
  readonly name: string;
  readonly source: string;
}

/** More uses than any session has open. What is beyond was abandoned. */
const mostOpen = 10_000;
/** Beyond the longest wait for an approval, so that the hook itself ends the wait. The tool runs if a hook is late. */
const marginSecs = 10;
/** How much of that the gateway has for its answers. */
const answerMs = 5000;

/**
 * Governs every use of a tool in a query of the Claude Agent SDK, those of Claude Code itself included. The hooks check before
 * and report after; `canUseTool` answers what the program would ask its user. The model reads the reason of a refusal.
 */
export function permissions(agent: Agent, options: PermissionsOptions = {}): Permissions {
  const open = new Map<string, OpenUse>();
  const waitMs = approvalWaitOf(options);
  // A query that is ended runs no hooks any more, and its process ends with all that it does.
  const endAll = async () => {
    const uses = [...open.values()];
    open.clear();
    await Promise.all(uses.map((use) => complete(use, { outcome: 'cancelled', detail: 'the query was ended' })));
    await subagents.endAll();
  };
  const subagents = claudeSubagents(agent, options.subagents);
  options.abortController?.signal.addEventListener('abort', () => void endAll());

  const ask = async (use: AskedUse): Promise<Refusal | undefined> => {
    try {
      const allowed = await askFor(use, options, waitMs);
      if ('text' in allowed) return allowed;
      remember(open, use.id, allowed);
      return undefined;
    } catch (error) {
      return refusalOfError(error);
    }
  };

  // They are checked for the agent alone, so a sub-agent that acts as another is asked about here, too.
  const isElsewhere = (tool: string, from: Provenance | undefined, as: Agent) =>
    as === agent && (options.governed ?? []).some((server) => isToolOf(server, tool, from));

  const before: Hook = async (input, toolUseId, { signal }) => {
    const { tool_name: tool = '', tool_input: given, tool_use_id: id = toolUseId ?? '', session_id: run, cwd } = input;
    const asked = subagents.whoActs(input.agent_id, input.agent_type).then(async (as) => {
      if (isElsewhere(tool, input.mcp_server, as)) return undefined;
      return ask({ tool, input: given, id, run, cwd, as, signal });
    });
    return denialOf(await asked.catch(refusalOfError));
  };

  /** A pause holds back the result. A termination ends the run. */
  const after =
    (outcome: Outcome): Hook =>
    async (input, toolUseId) => {
      const id = input.tool_use_id ?? toolUseId ?? '';
      const use = open.get(id);
      if (use === undefined) return {};
      open.delete(id);
      const stop = await checkpoint(use);
      const actualCostMicros = options.spent?.(input.tool_name ?? '', input.tool_response);
      await complete(use, { outcome: input.is_interrupt === true ? 'cancelled' : outcome, actualCostMicros });
      return stop === undefined ? {} : { continue: false, stopReason: stop.text };
    };

  const hook = (run: Hook): Matcher[] => [{ hooks: [run], timeout: Math.ceil(waitMs / 1000) + marginSecs }];
  return {
    canUseTool: async (tool, input, { signal, toolUseID: id, mcpServer, agentID }) => {
      const allowed = { behavior: 'allow', updatedInput: input } as const;
      const checked = id === undefined ? undefined : open.get(id);
      if (checked !== undefined) return checked.digest === digestOf(tool, input) ? allowed : changed;
      const as = await subagents.whoActs(agentID).catch(refusalOfError);
      if ('text' in as) return { behavior: 'deny', message: as.text };
      if (isElsewhere(tool, mcpServer, as)) return allowed;
      // Without the hooks nobody sees the end of the use.
      const key = id ?? randomUUID();
      const refusal = await ask({ tool, input, id: key, as, signal });
      if (refusal !== undefined) return { behavior: 'deny', message: refusal.text };
      await completeUnreported(open, key);
      return allowed;
    },
    hooks: {
      PreToolUse: hook(before),
      PostToolUse: held(after('succeeded')),
      PostToolUseFailure: held(after('failed')),
      SubagentStop: hook(({ agent_id: id }) => done(subagents.end(id))),
      SessionEnd: hook(() => done(endAll())),
    },
  };
}

function remember(open: Map<string, OpenUse>, id: string, use: OpenUse): void {
  const [oldest] = open.keys();
  if (oldest !== undefined && open.size >= mostOpen) open.delete(oldest);
  open.set(id, use);
}

async function completeUnreported(open: Map<string, OpenUse>, id: string): Promise<void> {
  const use = open.get(id);
  open.delete(id);
  if (use !== undefined) await complete(use, { detail: 'allowed; its end was not reported' });
}

/** Asks whether a use may happen. An operator who terminates it ends the query. */
async function askFor(use: AskedUse, options: PermissionsOptions, waitMs: number): Promise<OpenUse | Refusal> {
  const { tool, id, run, as } = use;
  const input = (use.input ?? {}) as Readonly<Record<string, unknown>>;
  const runId = runIdOf(options) ?? run;
  const answer = await as.decision(claudeAction(tool, input, use.cwd ?? options.cwd ?? process.cwd()), {
    // The host makes the ids, and names its session.
    ...idsOfCall(runId ?? 'run', id),
    runId,
    waitMs,
    signal: AbortSignal.any([use.signal, AbortSignal.timeout(Math.min(waitMs + answerMs, longestTimerMs))]),
    estimatedCostMicros: costOf(options, tool, input),
  });
  if (!answer.allowed) {
    if (answer.decision === 'pending') void complete({ agent: as, opId: answer.opId }, calledOff);
    return refusalOfAnswer(answer);
  }
  if (answer.judgeResult) {
    void complete({ agent: as, opId: answer.opId }, { ...calledOff, detail: unjudgeable });
    return denied({ ...answer, reason: unjudgeable });
  }
  const operation = as.operation(answer.opId);
  operation?.signal.addEventListener('abort', () => options.abortController?.abort(operation.signal.reason));
  return { agent: as, opId: answer.opId, operation, digest: digestOf(tool, input) };
}

function denialOf(refusal: Refusal | undefined): HookOutput {
  if (refusal === undefined) return {};
  const decision = { hookEventName: 'PreToolUse', permissionDecision: 'deny' } as const;
  return { hookSpecificOutput: { ...decision, permissionDecisionReason: refusal.text } };
}

/** The answer of a hook that has nothing to say. */
async function done(work: Promise<unknown>): Promise<HookOutput> {
  await work;
  return {};
}

/** A hook that throws stops nothing, so every failure is a refusal. What else the error says is for the program alone. */
function refusalOfError(error: unknown): Refusal {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return refusal;
  const name = error instanceof Error ? error.name : 'unknown';
  return name === 'TimeoutError' ? away('no answer in time') : away(`the check failed (${name})`);
}

const changed = {
  behavior: 'deny',
  message: 'Denied by policy: the input was changed after it had been checked',
} as const;

function digestOf(tool: string, input: unknown): string {
  return JSON.stringify([tool, input]);
}

/** By what Claude Code says of the server. An older one says nothing; then no longer name of a server may begin the same. */
function isToolOf(server: string, tool: string, from: Provenance | undefined): boolean {
  if (from !== undefined) return from.source === 'sdk' && from.name === server;
  const start = `mcp__${server}__`;
  return tool.startsWith(start) && !tool.slice(start.length).includes('__');
}

/** As long as a person may take. */
const longestPauseSecs = 3600;

function held(run: Hook): Matcher[] {
  return [{ hooks: [run], timeout: longestPauseSecs }];
}

async function checkpoint({ operation }: OpenUse): Promise<Refusal | undefined> {
  try {
    await operation?.checkpoint();
    return undefined;
  } catch (error) {
    return error instanceof OperationTerminatedError ? stopped(error) : undefined;
  }
}

const calledOff: Completion = { outcome: 'cancelled', actualCostMicros: 0, detail: 'nobody waits for it any more' };

/** Claude Code lets nobody replace the error of a tool, so what a use brings back could reach the model unjudged. */
const unjudgeable =
  'what this brings back must be judged before the model reads it, which hooks of Claude Code cannot ensure; offer it as a ' +
  'tool of the program, by govern()';

/** A report that cannot be delivered must not hold up the run. The gateway finds out by itself that the use is over. */
async function complete({ agent, opId }: Pick<OpenUse, 'agent' | 'opId'>, completion: Completion): Promise<void> {
  await agent.complete(opId, completion).catch(() => {});
}
