import { isUtf8 } from 'node:buffer';
import { numberFaultIn } from '@reeve/contract/exact-numbers';
import { lookalikeOf } from '../json/lookalike.ts';
import { isTooDeep } from '../json/nesting.ts';
import type { JsonMembers } from './json-members.ts';
import { jsonMembers, repeatedKey, TooManyParts } from './json-members.ts';
import { Refusal } from './refusal.ts';

/** The body of a request: as bytes, and as what they mean. */
export interface JsonRequest {
  readonly body: Buffer;
  readonly value: Readonly<Record<string, unknown>>;
  readonly places: JsonMembers;
  readonly model: string;
}

const longestModel = 512;
const mostParts = 2_000_000;

/** Members by which a call is judged and paid, in all protocols. */
const judged = new Set([
  ...['model', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'stream', 'stream_options'],
  ...['messages', 'input', 'system', 'tools'],
  ...['previous_response_id', 'conversation', 'prompt', 'container', 'mcp_servers'],
]);
/** Members by which some upstreams take another model than the one that is judged. */
const furtherModels = new Set(['models', 'fallbacks', 'fallback_models']);
const refusable = new Set([...judged, ...furtherModels]);

/**
 * Reads the body of a request. It passes on as it came, so it must mean the same to every reader: a text that readers
 * may understand differently, such as one that names two models, is refused.
 */
export function parseRequest(body: Buffer): JsonRequest {
  if (!isUtf8(body)) throw new Refusal('invalid_request', 'the body is not valid UTF-8');
  const places = placesIn(body);
  const text = body.toString('utf8');
  if (isTooDeep(text)) throw new Refusal('invalid_request', 'the body is nested too deeply');
  const value = parsed(() => JSON.parse(text) as unknown);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid_request', 'the body must be a JSON object');
  }
  requireClear(places, refusable, 'the body');
  const request = value as Readonly<Record<string, unknown>>;
  const { model, stream } = request;
  const further = Object.keys(request).find((key) => furtherModels.has(key));
  if (further !== undefined) throw new Refusal('invalid_request', `${further}: only the one model of a call is judged`);
  // Some upstreams take 1 or "true" for true.
  if (typeof (stream ?? false) !== 'boolean') throw new Refusal('invalid_request', 'stream: must be true or false');
  if (typeof model !== 'string' || model === '')
    throw new Refusal('invalid_request', 'model: must be a non-empty text');
  if (model.length > longestModel)
    throw new Refusal('invalid_request', `model: longer than ${longestModel} characters`);
  return { body, value: request, places, model };
}

/** Refuses an object whose members are not the same to every reader. `known` are those whose meaning matters. */
export function requireClear(places: JsonMembers, known: ReadonlySet<string>, what: string): void {
  const repeated = repeatedKey(places);
  if (repeated !== undefined) throw repeatedIn(what, repeated);
  for (const { key } of places.members) requireLowerCase(key, known, what);
}

export function repeatedIn(what: string, name: string): Refusal {
  return new Refusal('invalid_request', `${what} has the member ${quoted(name)} twice`);
}

/** Refuses a name that some readers take for a known one. */
export function requireLowerCase(name: string, known: ReadonlySet<string>, what: string): void {
  if (lookalikeOf([name], known) === undefined) return;
  throw new Refusal('invalid_request', `${what} has the member ${quoted(name)}, which must be in lower case`);
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 64));
}

/** A maximum that the request names. Null counts as none. The upstream must read the same number. */
export function limitIn({ body, value, places }: JsonRequest, key: string, least = 0): number | undefined {
  const limit = value[key] ?? undefined;
  if (limit === undefined) return undefined;
  const { from = 0, to = 0 } = places.members.find((member) => member.key === key) ?? {};
  const fault = numberFaultIn(body.toString('latin1', from, to));
  if (fault !== undefined) throw new Refusal('invalid_request', `${key}: ${fault}`);
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= least) return limit;
  throw new Refusal('invalid_request', `${key}: must be a whole number, at least ${least}`);
}

/** A body in too many parts is refused before it is parsed. */
function placesIn(body: Buffer): JsonMembers {
  try {
    return parsed(() => jsonMembers(body, mostParts));
  } catch (error) {
    if (!(error instanceof TooManyParts)) throw error;
    throw new Refusal('request_too_large', `the body has more than ${mostParts} quotes, brackets and commas`);
  }
}

function parsed<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TooManyParts) throw error;
    throw new Refusal('invalid_request', 'the body is not valid JSON');
  }
}
