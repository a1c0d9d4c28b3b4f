import { isUtf8 } from 'node:buffer';
import type { JsonMembers } from './json-members.ts';
import { jsonMembers, repeatedKey } from './json-members.ts';
import { Refusal } from './refusal.ts';

/** The body of a request: as bytes, and as what they mean. */
export interface JsonRequest {
  readonly body: Buffer;
  readonly value: Readonly<Record<string, unknown>>;
  readonly places: JsonMembers;
  readonly model: string;
}

const longestModel = 512;

/**
 * Reads the body of a request. It passes on as it came, so it must mean the same to every reader: a text that readers
 * may understand differently, such as one that names two models, is refused.
 */
export function parseRequest(body: Buffer): JsonRequest {
  if (!isUtf8(body)) throw new Refusal('invalid_request', 'the body is not valid UTF-8');
  const value = parsed(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid_request', 'the body must be a JSON object');
  }
  const places = jsonMembers(body);
  const repeated = repeatedKey(places);
  if (repeated !== undefined) {
    throw new Refusal('invalid_request', `the body has the member ${JSON.stringify(repeated.slice(0, 64))} twice`);
  }
  const request = value as Readonly<Record<string, unknown>>;
  const { model } = request;
  if (typeof model !== 'string' || model === '')
    throw new Refusal('invalid_request', 'model: must be a non-empty text');
  if (model.length > longestModel)
    throw new Refusal('invalid_request', `model: longer than ${longestModel} characters`);
  return { body, value: request, places, model };
}

/** A maximum that the request names. Null counts as none. */
export function limitIn({ value }: JsonRequest, key: string, least = 0): number | undefined {
  const limit = value[key] ?? undefined;
  if (limit === undefined) return undefined;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= least) return limit;
  throw new Refusal('invalid_request', `${key}: must be a whole number, at least ${least}`);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new Refusal('invalid_request', 'the body is not valid JSON');
  }
}
