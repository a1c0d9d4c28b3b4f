import { jsonMembers } from '../json-members.ts';
import type { JsonRequest } from '../json-request.ts';
import { requireClear } from '../json-request.ts';
import type { Place } from './json-places.ts';
import { jsonItems } from './json-places.ts';

/** Members by which a message is known as what a tool brought back, and by which its call is found. */
const known = new Set([
  ...['role', 'type', 'name', 'content', 'text', 'output', 'outputs', 'results', 'status', 'is_error'],
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id'],
  ...['tool_calls', 'function_call', 'function', 'custom', 'arguments', 'input', 'action', 'operation'],
]);
/** Members that hold further messages, blocks and calls. Those of others are the business of tools. */
const followed = new Set(['content', 'tool_calls', 'function_call', 'function', 'custom', 'output']);
const openBrace = 0x7b;
const openBracket = 0x5b;
const deepest = 6;

/** Refuses messages that readers may understand differently: what one reader takes for text may be a tool's to another. */
export function requireClearMessages({ body, places }: JsonRequest): void {
  for (const { key, ...place } of places.members) {
    if (key === 'messages' || key === 'input') requireClearIn(body, place, 0);
  }
}

function requireClearIn(body: Buffer, place: Place, depth: number): void {
  if (depth > deepest) return;
  if (body[place.from] === openBracket) {
    for (const item of jsonItems(body, place)) requireClearIn(body, item, depth + 1);
  } else if (body[place.from] === openBrace) {
    const members = jsonMembers(body.subarray(place.from, place.to));
    requireClear(members, known, 'a message');
    for (const { key, from, to } of members.members) {
      if (followed.has(key)) requireClearIn(body, { from: place.from + from, to: place.from + to }, depth + 1);
    }
  }
}
