import type { Action, ActionType, User, UserId } from '../action/index.ts';
import { action, actionTypes } from '../action/index.ts';
import type { StoredEntry, Json, Decision } from '../audit/index.ts';
import { redacted } from '../audit/index.ts';
import type { AgentId, EpochMs, Micros } from '../kernel/index.ts';
import { microsPerUsd } from '../kernel/index.ts';
import type { RunFacts, SpendFacts, Facts } from '../policy/index.ts';
import { NotRecorded } from '../policy/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import { isOmission } from './omission.ts';
import { unregisteredAgent } from '../tenancy/index.ts';

/** A decision as the log has it: the request, with secrets replaced, and the answer. */
export interface RecordedDecision {
  readonly seq: number;
  readonly at: EpochMs;
  readonly opId: string;
  readonly agent: AgentId;
  readonly depth: number;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  readonly action: Action;
  readonly resource: string;
  /** The parsed arguments. Undefined if there were none, or if they were too long to record. */
  readonly args: Json | undefined;
  readonly argsOmitted: boolean;
  /** What rules made of the arguments, as it is logged. Undefined if nothing. */
  readonly rewrittenArgs: Json | undefined;
  /** The parsed annotations of the tool. Undefined if there were none, or if they were too long to record. */
  readonly annotations: Json | undefined;
  readonly annotationsOmitted: boolean;
  /** Arguments or annotations hold a number that a double does not hold. They were judged otherwise than they are recorded. */
  readonly inexact: boolean;
  /** Something was replaced before the record was written. */
  readonly redacted: boolean;
  readonly costMicros: number;
  /** The agent estimated the cost itself. */
  readonly estimated: boolean;
  readonly runId: string;
  /** What conditions learned about the run and the spend, if any asked. */
  readonly run: Partial<Omit<RunFacts, 'id'>>;
  readonly spend: Omit<SpendFacts, 'global'> | undefined;
  /** The user for whom the agent acted, and the groups if a condition asked. */
  readonly user: UserId | undefined;
  readonly userGroups: readonly string[] | undefined;
  /** A standing grant allowed the action. */
  readonly granted: boolean;
  /** A rate refused the check. */
  readonly byRate: boolean;
  /** The agent acted on behalf of others, which policy was asked about, too. */
  readonly delegated: boolean;
}

interface LoggedAction {
  readonly type: ActionType;
  readonly annotations?: Json;
  readonly args?: Json;
  readonly command?: string;
  readonly command_args?: readonly string[];
  readonly working_dir?: string;
  readonly host?: string;
  readonly inexact?: boolean;
  readonly max_output_tokens?: number;
  readonly model?: string;
  readonly named_only?: boolean;
  readonly operation?: string;
  readonly path?: string;
  readonly port?: number;
  readonly prompt_tokens?: number;
  readonly protocol?: string;
  readonly source?: string;
  readonly tool?: string;
  readonly url?: string;
}

interface LoggedEntry {
  readonly at: string;
  readonly event_type: string;
  readonly lineage: {
    readonly org_id: string | null;
    readonly team_id: string;
    readonly agent_id: string;
    readonly depth: number;
  };
  readonly op_id: string | null;
  readonly decision: Decision | null;
  readonly reason: string | null;
  readonly policy_rule: string | null;
  readonly policy_version: string | null;
  readonly payload: {
    readonly action?: LoggedAction;
    readonly cost_micros?: number;
    readonly delegators?: readonly string[];
    readonly estimated?: boolean;
    readonly grant_id?: string;
    readonly rate?: object;
    readonly replay?: boolean;
    readonly resource?: string;
    readonly rewritten_args?: Json;
    readonly run?: Partial<Omit<RunFacts, 'id'>>;
    readonly run_id?: string;
    readonly spend?: Omit<SpendFacts, 'global'>;
    readonly user?: UserId;
    readonly user_groups?: readonly string[];
  };
}

const decisionEvents = new Set(['ActionAllowed', 'ActionDenied', 'ActionPending', 'BudgetLimitExceeded']);

/** The decision that an entry records. Undefined if it is about something else, or about a repeated check. */
export function recordedDecision({ seq, canonical }: StoredEntry): RecordedDecision | undefined {
  if (!holdsDecision(canonical)) return undefined;
  const entry = JSON.parse(canonical) as LoggedEntry;
  const { lineage, payload } = entry;
  const logged = payload.action;
  if (entry.decision === null || entry.op_id === null || logged === undefined || payload.replay === true) {
    return undefined;
  }
  if (!decisionEvents.has(entry.event_type) || !actionTypes.includes(logged.type)) return undefined;
  const argsOmitted = isOmission(logged.args);
  const annotationsOmitted = isOmission(logged.annotations);
  return {
    seq,
    at: Date.parse(entry.at),
    opId: entry.op_id,
    agent: { orgId: lineage.org_id ?? '', teamId: lineage.team_id, agentId: lineage.agent_id },
    depth: lineage.depth,
    decision: entry.decision,
    reason: entry.reason ?? '',
    policyRule: entry.policy_rule ?? '',
    policyVersion: entry.policy_version ?? '',
    action: actionOf(logged),
    resource: payload.resource ?? '',
    args: argsOmitted ? undefined : logged.args,
    argsOmitted,
    rewrittenArgs: payload.rewritten_args,
    annotations: annotationsOmitted ? undefined : logged.annotations,
    annotationsOmitted,
    inexact: logged.inexact === true,
    redacted: holdsRedaction(logged),
    costMicros: payload.cost_micros ?? 0,
    estimated: payload.estimated === true,
    runId: payload.run_id ?? '',
    run: payload.run ?? {},
    spend: payload.spend,
    user: payload.user,
    userGroups: payload.user_groups,
    granted: payload.grant_id !== undefined,
    byRate: payload.rate !== undefined,
    delegated: payload.delegators !== undefined,
  };
}

const decisionMember = ',"decision":';

/**
 * Half of a log is about something else, so this check runs before an entry is parsed. Only the actor and the time
 * precede the first such member, and quotes in them are escaped.
 */
function holdsDecision(canonical: string): boolean {
  const at = canonical.indexOf(decisionMember);
  return at >= 0 && !canonical.startsWith('null', at + decisionMember.length);
}

function actionOf(logged: LoggedAction): Action {
  return action(logged.type, {
    tool: logged.tool,
    source: logged.source,
    model: logged.model,
    promptTokens: logged.prompt_tokens,
    maxOutputTokens: logged.max_output_tokens,
    operation: logged.operation,
    path: logged.path,
    host: logged.host,
    port: logged.port,
    protocol: logged.protocol,
    namedOnly: logged.named_only,
    command: logged.command,
    commandArgs: logged.command_args,
    workingDir: logged.working_dir,
    url: logged.url,
  });
}

function holdsRedaction(logged: LoggedAction): boolean {
  return JSON.stringify(logged).includes(redacted);
}

/**
 * What conditions may read when a decision is judged again. Time and arguments are those of the decision. What the log
 * does not hold is `NotRecorded`, never guessed. Name, framework and metadata are the agent's present ones.
 */
export class RecordedFacts implements Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  readonly #recorded: RecordedDecision;
  /** Whether a condition has asked for something that is not recorded. */
  lacking = false;

  constructor(recorded: RecordedDecision, agent: AgentRecord | undefined, cost: Micros) {
    const lack = (what: string) => this.#lack(what);
    this.agent = agent ?? unknownAgent(recorded.agent, lack);
    this.depth = recorded.depth;
    this.action = recorded.action;
    this.now = recorded.at;
    this.costUsd = cost / microsPerUsd;
    this.#recorded = recorded;
  }

  args(): unknown {
    if (this.#recorded.argsOmitted) this.#lack('the arguments were too long to be recorded');
    this.#requireExact();
    return this.#recorded.args ?? {};
  }

  annotations(): unknown {
    if (this.#recorded.annotationsOmitted) this.#lack('the annotations were too long to be recorded');
    this.#requireExact();
    return this.#recorded.annotations ?? {};
  }

  run(): RunFacts {
    const { runId: id, run } = this.#recorded;
    const lack = () => this.#lack('what had happened in the run is not recorded');
    return {
      id,
      get checks() {
        return run.checks ?? lack();
      },
      get spent_usd() {
        return run.spent_usd ?? lack();
      },
      get labels() {
        return run.labels ?? lack();
      },
    };
  }

  spend(): SpendFacts {
    const spend = this.#recorded.spend ?? this.#lack('spend is not recorded');
    const lack = () => this.#lack('what everybody together had spent is not recorded');
    return {
      ...spend,
      get global() {
        return lack();
      },
    };
  }

  user(): User | null {
    const { user, userGroups } = this.#recorded;
    if (user === undefined) return null;
    const lack = (what: string) => this.#lack(what);
    return {
      issuer: user.issuer,
      sub: user.sub,
      email: user.email,
      get groups() {
        return userGroups ?? lack('the groups of the user are not recorded');
      },
      get claims() {
        return lack('the claims of the user are not recorded');
      },
    };
  }

  #requireExact(): void {
    if (this.#recorded.inexact) this.#lack('a number that was sent cannot be recorded as one');
  }

  #lack(what: string): never {
    this.lacking = true;
    throw new NotRecorded(what);
  }
}

/** An agent that has left: only its ids are known. */
function unknownAgent(id: AgentId, lack: (what: string) => never): AgentRecord {
  const gone = 'the agent is not registered any more';
  return {
    ...unregisteredAgent(id),
    get name() {
      return lack(gone);
    },
    get framework() {
      return lack(gone);
    },
    get metadata() {
      return lack(gone);
    },
  };
}
