import type { Json } from '../audit/canonical-json.ts';
import { invalid } from '../kernel/errors.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import { parseAgentId } from '../tenancy/agent-id.ts';
import type { Action } from './action.ts';
import { scanJson } from './scan-json.ts';
import { checkTraceIds } from './trace-ids.ts';

/** One question of an agent, checked in form and not yet judged. */
export interface CheckRequest {
  readonly agentId: AgentId;
  readonly token: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly action: Action;
  /** The parsed `args_json` or `result_json`; undefined where there is none. Long ones are parsed when asked for. */
  readonly args: Json | undefined;
  /** How many values the arguments hold, where they are long. */
  readonly argumentValues?: number;
  readonly caller: AgentId | null;
  readonly estimatedCostMicros: number | null;
  readonly runId: string;
  readonly summary: string;
}

/** A request as a transport decoded it. */
export type RawCheckRequest = Omit<CheckRequest, 'args' | 'argumentValues' | 'agentId'> & {
  readonly agentId: AgentId | undefined;
};

const deepestArguments = 64;
export const longestText = 4096;

/** Checks the form of a request; throws `invalid_argument` naming the field and what would be right. */
export function parseCheckRequest(raw: RawCheckRequest): CheckRequest {
  const agentId = parseAgentId(raw.agentId);
  checkTraceIds(raw);
  if (raw.caller !== null) parseAgentId(raw.caller, 'caller_agent_id');
  if (raw.estimatedCostMicros !== null) checkMicros('estimated_cost_micros', raw.estimatedCostMicros);
  checkLength('run_id', raw.runId, 128);
  checkLength('summary', raw.summary, longestText);
  checkNumbers(raw.action);
  const { values, read } = readArguments(raw.action);
  return {
    agentId,
    token: raw.token,
    traceId: raw.traceId,
    spanId: raw.spanId,
    action: raw.action,
    get args() {
      return read();
    },
    ...(values === undefined ? {} : { argumentValues: values }),
    caller: raw.caller,
    estimatedCostMicros: raw.estimatedCostMicros,
    runId: raw.runId,
    summary: raw.summary,
  };
}

export function checkMicros(field: string, micros: number): void {
  if (micros < 0) throw invalid(field, 'must not be negative');
  if (!Number.isSafeInteger(micros)) throw invalid(field, `must be at most ${Number.MAX_SAFE_INTEGER}`);
}

export function checkLength(field: string, text: string, most: number): void {
  if (text.length > most) throw invalid(field, `must be at most ${most} characters`);
}

function checkNumbers(action: Action): void {
  if (action.promptTokens < 0) throw invalid('context.llm_call.prompt_tokens', 'must not be negative');
  if (action.maxOutputTokens < 0) throw invalid('context.llm_call.max_output_tokens', 'must not be negative');
  if (action.port < 0 || action.port > 65_535) throw invalid('context.network_call.port', 'must be 0 to 65535');
}

/** Shorter arguments are parsed at once. */
const surelyShort = 65_536;
/**
 * Making more values takes longer than everybody else can be asked to wait. Such arguments are recorded by their hash,
 * as all that are long, and conditions that look at them fail: nobody ever reads what is in them.
 */
export const mostArgumentValues = 100_000;

interface Arguments {
  readonly values?: number;
  readonly read: () => Json | undefined;
}

function readArguments(action: Action): Arguments {
  if (action.json === '') return { read: () => undefined };
  const field = action.type === 'tool_result' ? 'context.tool_result.result_json' : 'context.tool_call.args_json';
  const malformed = () => invalid(field, 'must be a JSON document in UTF-8, or empty');
  const tooDeep = () => invalid(field, `must not be nested deeper than ${deepestArguments}`);
  if (action.json.length > surelyShort) {
    const scanned = scanJson(action.json, { depth: deepestArguments, values: mostArgumentValues });
    if (scanned === 'malformed') throw malformed();
    if (scanned === 'too deep') throw tooDeep();
    let parsed: Json | undefined;
    return { values: scanned, read: () => (parsed ??= JSON.parse(action.json) as Json) };
  }
  if (nestsDeeperThan(action.json, deepestArguments)) throw tooDeep();
  try {
    const value = JSON.parse(action.json) as Json;
    return { read: () => value };
  } catch {
    throw malformed();
  }
}

/** Looked at before the text is parsed: parsing what is nested a million deep would keep everybody else waiting. */
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
