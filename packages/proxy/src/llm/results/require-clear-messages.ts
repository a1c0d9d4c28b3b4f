import { stringEnd } from '../json-members.ts';
import type { JsonRequest } from '../json-request.ts';
import { repeatedIn, requireLowerCase } from '../json-request.ts';
import type { Place } from './json-places.ts';

/** Members by which a message is known as what a tool brought back, and by which its call is found. */
const known = new Set([
  ...['role', 'type', 'name', 'content', 'text', 'output', 'outputs', 'result', 'results', 'error', 'sources'],
  ...['status', 'is_error'],
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id'],
  ...['tool_calls', 'function_call', 'function', 'custom', 'arguments', 'input', 'action', 'operation'],
]);
/** Members that hold further messages, blocks and calls. Those of others are the business of tools. */
const followed = new Set(['content', 'tool_calls', 'function_call', 'function', 'custom', 'output']);
const what = 'a message';

/**
 * Refuses messages that readers may understand differently: what one reader takes for text may be a tool's to another. Nothing
 * else of a request may say a thing twice either: one reader takes the first, and another the last.
 */
export function requireClearMessages({ body, places }: JsonRequest): void {
  for (const { key, ...place } of places.members) requireClearIn(body, place, key === 'messages' || key === 'input');
}

/** A list or an object around a place of a text. */
interface Around {
  /** The names of an object so far. Undefined for a list. */
  readonly names: Set<string> | undefined;
  readonly isOfMessages: boolean;
  /** The member whose value comes. Undefined where a name comes next. */
  key: string | undefined;
}

function requireClearIn(body: Buffer, { from, to }: Place, areMessages: boolean): void {
  const around: Around[] = [];
  let inner: Around | undefined;
  for (let at = from; at < to; at++) {
    switch (body[at] ?? 0) {
      case 0x22: {
        const end = stringEnd(body, at);
        if (inner?.names !== undefined && inner.key === undefined) {
          inner.key = newName(inner, JSON.parse(body.toString('utf8', at, end + 1)) as string);
        }
        at = end;
        break;
      }
      case 0x7b:
      case 0x5b: {
        const isOfMessages =
          inner === undefined ? areMessages : inner.isOfMessages && followed.has(inner.key ?? 'content');
        inner = { names: body[at] === 0x7b ? new Set() : undefined, isOfMessages, key: undefined };
        around.push(inner);
        break;
      }
      case 0x7d:
      case 0x5d:
        around.pop();
        inner = around.at(-1);
        break;
      case 0x2c:
        if (inner !== undefined) inner.key = undefined;
        break;
      default:
    }
  }
}

function newName({ names, isOfMessages }: Around, name: string): string {
  if (names?.has(name) === true) throw repeatedIn(what, name);
  names?.add(name);
  if (isOfMessages) requireLowerCase(name, known, what);
  return name;
}
