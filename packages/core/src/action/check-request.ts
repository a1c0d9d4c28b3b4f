import type { Action, ActionType } from './action.ts';
import { parseJson, withoutMark } from './parse-json.ts';
import { scanJson } from './scan-json.ts';
import type { Subject, User } from './user.ts';
import type { Via } from './via.ts';
import { checkVia } from './via.ts';
import type { Json } from '../audit/index.ts';
import type { AgentId, Micros } from '../kernel/index.ts';
import {
  parseAgentId,
  checkTraceIds,
  checkLength,
  longest,
  mostBytesOfAnnotations,
  mostBytesOfSubjectToken,
  fitsIn,
  invalid,
  checkCost,
} from '../kernel/index.ts';

/** A request of an agent. Its form is checked, and it is not yet decided. */
export interface CheckRequest {
  readonly agentId: AgentId;
  readonly token: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly action: Action;
  /**
   * The parsed `args_json` or `result_json`; undefined if there is none. Long ones are parsed on first use. A number that
   * a double does not hold is an `InexactNumber`, here and in the annotations.
   */
  readonly args: Json | undefined;
  /** The number of values in the arguments, if these are long. */
  readonly argumentValues?: number;
  /** The parsed annotations of the tool; undefined if there are none. */
  readonly annotations: Json | undefined;
  readonly caller: AgentId | null;
  readonly estimatedCostMicros: number | null;
  readonly runId: string;
  readonly summary: string;
  /** The door that the action comes through. Null: the agent asks by itself. */
  readonly via: Via | null;
  /** Whether the kernel holds what runs, by whoever asks. */
  readonly floor: boolean;
  /** The JWT of the user for whom the agent acts. Empty: nobody. */
  readonly subjectToken: string;
  /** What came of that token. Null: there is none, or nobody has looked at it yet. */
  readonly subject: Subject | null;
  /** The caller passes on arguments that rules have rewritten. */
  readonly canRewrite: boolean;
  /** The caller sends a model nothing but the prompt as rules have masked it. */
  readonly canMaskPrompt: boolean;
  /** The numbers in arguments and annotations, as written, that a double does not hold. */
  readonly inexact: ReadonlySet<string>;
}

/** A request as a transport decoded it. */
export type RawCheckRequest = Omit<
  CheckRequest,
  | 'args'
  | 'argumentValues'
  | 'annotations'
  | 'agentId'
  | 'via'
  | 'subject'
  | 'subjectToken'
  | 'floor'
  | 'canRewrite'
  | 'canMaskPrompt'
> & {
  readonly agentId: AgentId | undefined;
  readonly via?: Via | null;
  readonly floor?: boolean;
  readonly subjectToken?: string;
  readonly canRewrite?: boolean;
  readonly canMaskPrompt?: boolean;
  /** The user that a simulation supposes. */
  readonly user?: User | null;
};

const deepestArguments = 64;
/** The largest token count that the gRPC field holds. */
const mostTokens = 2_147_483_647;

/**
 * Checks the form of a request. Throws `invalid_argument` with the field and what would be right. `mostMicros` is the
 * most that one action may cost.
 */
export function parseCheckRequest(raw: RawCheckRequest, mostMicros: Micros): CheckRequest {
  const agentId = parseAgentId(raw.agentId);
  checkTraceIds(raw);
  if (raw.caller !== null) parseAgentId(raw.caller, 'caller_agent_id');
  if (raw.estimatedCostMicros !== null) checkCost('estimated_cost_micros', raw.estimatedCostMicros, mostMicros);
  checkLength('run_id', raw.runId, longest.runId);
  checkLength('summary', raw.summary, longest.text);
  const { via = null, floor = false, subjectToken = '', user = null } = raw;
  const { canRewrite = false, canMaskPrompt = false } = raw;
  if (via !== null) checkVia(via);
  if (!fitsIn(subjectToken, mostBytesOfSubjectToken)) {
    throw invalid('subject_token', `must be at most ${mostBytesOfSubjectToken} bytes`);
  }
  checkTexts(raw.action);
  checkNumbers(raw.action);
  const { value, values, read } = readArguments(raw.action, raw.inexact);
  const { annotations } = raw.action;
  const request = {
    agentId,
    token: raw.token,
    traceId: raw.traceId,
    spanId: raw.spanId,
    action: raw.action,
    args: value,
    annotations: annotations === '' ? undefined : readAnnotations(annotations, raw.inexact),
    caller: raw.caller,
    estimatedCostMicros: raw.estimatedCostMicros,
    runId: raw.runId,
    summary: raw.summary,
    via,
    floor,
    subjectToken,
    subject: user === null ? null : ({ proven: true, user, until: Number.POSITIVE_INFINITY } as const),
    canRewrite,
    canMaskPrompt,
    inexact: raw.inexact,
  };
  if (read === undefined) return request;
  // Only here, because objects with a getter take long to make.
  Object.defineProperty(request, 'args', { get: read, enumerable: true });
  return values === undefined ? request : Object.assign(request, { argumentValues: values });
}

/** The request, once it is known for whom it is. A copy would parse long arguments. */
export function withSubject(request: CheckRequest, subject: Subject): CheckRequest {
  return Object.assign(request, { subject });
}

/** The proven user for whom a request is. */
export function userOf({ subject }: Pick<CheckRequest, 'subject'>): User | null {
  return subject?.proven === true ? subject.user : null;
}

type Text = 'tool' | 'source' | 'model' | 'operation' | 'path' | 'host' | 'protocol' | 'command' | 'workingDir' | 'url';

/** The texts of each action type, under the names that callers use. */
const texts: Readonly<Record<ActionType, Readonly<Partial<Record<Text, string>>>>> = {
  llm_call: { model: 'llm_call.model' },
  tool_call: { tool: 'tool_call.tool_name', source: 'tool_call.tool_source', url: 'tool_call.target_url' },
  tool_result: { tool: 'tool_result.tool_name', source: 'tool_result.tool_source', url: 'tool_result.source_url' },
  file_operation: { operation: 'file_op.operation', path: 'file_op.path' },
  network_call: { host: 'network_call.host', protocol: 'network_call.protocol' },
  process_exec: { command: 'process_exec.command', workingDir: 'process_exec.working_dir' },
  agent_spawn: { command: 'process_exec.command', workingDir: 'process_exec.working_dir' },
};

const written: ReadonlySet<string> = new Set<Text>(['path', 'command', 'workingDir', 'url']);

interface TextBound {
  readonly member: Text;
  readonly field: string;
  readonly most: number;
}

/** Made once, because every decision looks at them. */
const textBounds: ReadonlyMap<string, readonly TextBound[]> = new Map(
  Object.entries(texts).map(([type, named]) => [type, boundsOf(named)]),
);

function boundsOf(named: Readonly<Partial<Record<Text, string>>>): TextBound[] {
  return (Object.entries(named) as [Text, string][]).map(([member, name]) => {
    return { member, field: `context.${name}`, most: written.has(member) ? longest.text : longest.name };
  });
}

function checkTexts(action: Action): void {
  for (const { member, field, most } of textBounds.get(action.type) ?? []) checkLength(field, action[member], most);
  const { command, commandArgs } = action;
  if (commandArgs.length === 0) return;
  const together = commandArgs.reduce((sum, { length }) => sum + length + 1, command.length);
  if (together <= longest.text) return;
  throw invalid('context.process_exec.args', `must be at most ${longest.text} characters together with the command`);
}

function checkNumbers(action: Action): void {
  checkTokens('context.llm_call.prompt_tokens', action.promptTokens);
  checkTokens('context.llm_call.max_output_tokens', action.maxOutputTokens);
  if (action.port < 0 || action.port > 65_535) throw invalid('context.network_call.port', 'must be 0 to 65535');
}

function checkTokens(field: string, tokens: number): void {
  if (tokens < 0) throw invalid(field, 'must not be negative');
  if (tokens > mostTokens) throw invalid(field, `must be at most ${mostTokens}`);
}

/** Shorter arguments are parsed at once. */
const surelyShort = 65_536;
/**
 * Parsing more values would keep all other callers waiting. The log keeps such arguments as a hash, like all long ones.
 * Conditions on them fail: nobody ever reads their values.
 */
export const mostArgumentValues = 100_000;

interface Arguments {
  /** The parsed arguments, unless these are long. */
  readonly value?: Json;
  /** Parses long arguments on first use. */
  readonly read?: () => Json | undefined;
  /** How many values they have. */
  readonly values?: number;
}

const noArguments: Arguments = {};

function readArguments(action: Action, inexact: ReadonlySet<string>): Arguments {
  if (action.json === '') return noArguments;
  const json = withoutMark(action.json);
  const field = action.type === 'tool_result' ? 'context.tool_result.result_json' : 'context.tool_call.args_json';
  const malformed = () => invalid(field, 'must be a JSON document in UTF-8, or empty');
  const tooDeep = () => invalid(field, `must not be nested deeper than ${deepestArguments}`);
  if (json.length > surelyShort) {
    const scanned = scanJson(json, { depth: deepestArguments, values: mostArgumentValues });
    if (scanned === 'malformed') throw malformed();
    if (scanned === 'too deep') throw tooDeep();
    let parsed: Json | undefined;
    return { values: scanned, read: () => (parsed ??= parseJson(json, inexact)) };
  }
  if (nestsDeeperThan(json, deepestArguments)) throw tooDeep();
  try {
    return { value: parseJson(json, inexact) };
  } catch {
    throw malformed();
  }
}

/** Annotations are small, so they are parsed at once. */
function readAnnotations(text: string, inexact: ReadonlySet<string>): Json {
  const field = 'context.tool_call.annotations_json';
  if (!fitsIn(text, mostBytesOfAnnotations)) throw invalid(field, `must be at most ${mostBytesOfAnnotations} bytes`);
  const json = withoutMark(text);
  if (nestsDeeperThan(json, deepestArguments))
    throw invalid(field, `must not be nested deeper than ${deepestArguments}`);
  const value = parsed(json, inexact);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid(field, 'must be a JSON object in UTF-8, or empty');
}

function parsed(json: string, inexact: ReadonlySet<string>): Json | undefined {
  try {
    return parseJson(json, inexact);
  } catch {
    return undefined;
  }
}

/** Runs before the text is parsed: parsing a million levels would keep all other callers waiting. */
function nestsDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === quote) at = endOfString(json, at);
    else if (char === openBrace || char === openBracket) {
      if (++depth > limit) return true;
    } else if (char === closeBrace || char === closeBracket) depth--;
  }
  return false;
}

const [quote, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d];

function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}
