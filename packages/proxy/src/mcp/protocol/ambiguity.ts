import { lookalikeOf } from '../../json/lookalike.ts';
import type { Message } from './message.ts';
import { isObject } from './written-json.ts';

const envelope = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
const ofCalls = new Set(['name', 'arguments', '_meta']);

/**
 * Why readers may disagree on what a message says. Undefined if they agree. What another reader takes for a call would
 * pass without a decision, and what another reader takes for an answer would pass although it is held back.
 */
export function ambiguityOf({ value, idFault }: Message): string | undefined {
  if (!isObject(value)) return undefined;
  if (idFault !== undefined) return idFault;
  const { method, params, result, error } = value;
  const name = lookalikeOf(Object.keys(value), envelope);
  if (name !== undefined) return spelling(name);
  if (method === undefined || method === null) return undefined;
  // As a key of an object, ["tools/call"] is "tools/call".
  if (typeof method !== 'string') return 'method must be a text';
  if ((result ?? error ?? undefined) !== undefined) return 'a message is either a request or an answer';
  const param = method === 'tools/call' && isObject(params) ? lookalikeOf(Object.keys(params), ofCalls) : undefined;
  return param === undefined ? undefined : spelling(`params.${param}`);
}

function spelling(name: string): string {
  return `${JSON.stringify(name.slice(0, 64))} must be in lower case: readers disagree on what it means`;
}
