import { isExactNumber, numberFault } from '@reeve/contract/exact-numbers';
import { metaOf, subscriptionKey } from './envelope.ts';
import type { JsonObject } from './written-json.ts';
import { isObject, writtenNumber } from './written-json.ts';

/** Ids of calls that were stopped are kept as long as their session. */
const longestId = 1024;

/**
 * Why readers may take an id or a token of a message for another one. Undefined if they cannot. An answer that another reader
 * counts to another request could be one that is held back. The value must have its numbers as they were written.
 */
export function idFaultIn(written: JsonObject): string | undefined {
  const { id, params, result } = written;
  const own = isObject(params) ? params : {};
  const tokens = {
    requestId: own['requestId'],
    progressToken: own['progressToken'],
    '_meta.progressToken': metaOf(params)['progressToken'],
    [`_meta.${subscriptionKey}`]: metaOf(params)[subscriptionKey] ?? metaOf(result)[subscriptionKey],
  };
  // JSON-RPC permits null, and an error that concerns no request has it.
  const fault = id === undefined || id === null ? undefined : faultOf('id', id);
  if (fault !== undefined) return fault;
  for (const [name, token] of Object.entries(tokens)) {
    const wrong = token === undefined ? undefined : faultOf(`params.${name}`, token);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function faultOf(name: string, id: unknown): string | undefined {
  const number = writtenNumber(id);
  if (number !== undefined) return isExactNumber(number) ? undefined : `${name}: ${numberFault(number)}`;
  if (typeof id !== 'string') return `${name} must be a text or a number`;
  return id.length > longestId ? `${name} is longer than ${longestId} characters` : undefined;
}
