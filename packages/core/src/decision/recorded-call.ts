import type { Action, ActionType, CheckRequest, UserId } from '../action/index.ts';
import { action, describeAction, describeArgs, keptUser, userOf } from '../action/index.ts';
import type { Json } from '../audit/index.ts';
import { redacted, redactText } from '../audit/index.ts';
import type { AgentId, EpochMs, Micros, Sha256 } from '../kernel/index.ts';
import type { RunFacts, SpendFacts } from '../policy/index.ts';
import type { AskedFacts } from './answer.ts';
import { isOmission } from './omission.ts';
import type { RewrittenCall } from './rewritten-call.ts';

/** A call as the log has it, with secrets replaced. It is plain data. */
export interface RecordedCall {
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly depth: number;
  readonly action: Action;
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
  readonly costMicros: Micros;
  readonly runId: string;
  /** What conditions learned about the run and the spend, if any asked. */
  readonly run: Partial<Omit<RunFacts, 'id'>>;
  readonly spend: Omit<SpendFacts, 'global'> | undefined;
  /** The user for whom the agent acted, and the groups if a condition asked. */
  readonly user: UserId | undefined;
  readonly userGroups: readonly string[] | undefined;
}

export interface LoggedAction {
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

/** What an entry says of the call that it decides about. */
export interface LoggedCall {
  readonly action: LoggedAction;
  readonly cost_micros?: number;
  readonly rewritten_args?: Json;
  readonly run?: Partial<Omit<RunFacts, 'id'>>;
  readonly run_id?: string;
  readonly spend?: Omit<SpendFacts, 'global'>;
  readonly user?: UserId;
  readonly user_groups?: readonly string[];
}

/** Who makes a call, and when. */
type Asked = Pick<RecordedCall, 'at' | 'agent' | 'depth'>;

export function recordedCall(logged: LoggedCall, { at, agent, depth }: Asked): RecordedCall {
  const argsOmitted = isOmission(logged.action.args);
  const annotationsOmitted = isOmission(logged.action.annotations);
  return {
    at,
    agent,
    depth,
    action: actionOf(logged.action),
    args: argsOmitted ? undefined : logged.action.args,
    argsOmitted,
    rewrittenArgs: logged.rewritten_args,
    annotations: annotationsOmitted ? undefined : logged.action.annotations,
    annotationsOmitted,
    inexact: logged.action.inexact === true,
    redacted: holdsRedaction(logged.action),
    costMicros: logged.cost_micros ?? 0,
    runId: logged.run_id ?? '',
    run: logged.run ?? {},
    spend: logged.spend,
    user: logged.user,
    userGroups: logged.user_groups,
  };
}

/** What becomes of a call that nobody has logged. */
interface Unlogged extends Omit<Asked, 'agent'> {
  readonly costMicros: Micros;
  readonly asked: AskedFacts | undefined;
  readonly rewritten: RewrittenCall | undefined;
  readonly sha256: Sha256;
}

/** The call of a request as the log would have it: what is supposed to come back of it is judged as if it had been made. */
export function asLogged(
  request: CheckRequest,
  { at, depth, costMicros, asked, rewritten, sha256 }: Unlogged,
): RecordedCall {
  const user = userOf(request);
  return recordedCall(
    {
      action: JSON.parse(describeAction(request, sha256)) as LoggedAction,
      cost_micros: costMicros,
      run_id: redactText(request.runId),
      ...(rewritten === undefined
        ? {}
        : { rewritten_args: JSON.parse(describeArgs(rewritten.request, sha256)) as Json }),
      ...(user === null ? {} : { user: keptUser(user) }),
      ...(asked?.groups === undefined ? {} : { user_groups: asked.groups.map(redactText) }),
    },
    { at, agent: request.agentId, depth },
  );
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
