import type { Members } from '../results/tool-message.ts';
import { listIn, membersIn, textIn } from '../results/tool-message.ts';

/** An event of a response, without its number. */
export type ResponseEvent = Members & { readonly type: string };

export function startOfResponse(response: Members): ResponseEvent {
  return { type: 'response.created', response: { ...response, output: [], usage: null, status: 'in_progress' } };
}

export function endOfResponse(response: Members): ResponseEvent {
  const { status } = response;
  const end = status === 'incomplete' || status === 'failed' ? status : 'completed';
  return { type: `response.${end}`, response };
}

/** All of an item. */
export function* itemEvents(item: Members, output_index: number): Iterable<ResponseEvent> {
  const { arguments: written, content } = item;
  const place = { output_index, item_id: item['id'] };
  yield startOfItem(item, output_index);
  if (typeof written === 'string')
    yield* textEvents(item['type'] === 'mcp_call' ? 'mcp_call' : 'function_call', 'arguments', place, written);
  for (const [at, part] of listIn(content).entries())
    yield* partEvents(membersIn(part), { ...place, content_index: at });
  yield { type: 'response.output_item.done', output_index, item };
}

export function startOfItem(item: Members, output_index: number): ResponseEvent {
  const { arguments: written, content } = item;
  const isCall = typeof written === 'string';
  const empty = { ...(isCall ? { arguments: '' } : {}), ...(Array.isArray(content) ? { content: [] } : {}) };
  return { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', ...empty } };
}

/** The member of a part that comes as a text of its own. */
const texts: ReadonlyMap<unknown, string> = new Map([
  ['output_text', 'text'],
  ['reasoning_text', 'text'],
  ['refusal', 'refusal'],
]);

/** The text of a part, and the name of its member. Undefined if it has none that comes in parts. */
export function textOfPart(part: Members): { readonly name: string; readonly text: string } | undefined {
  const name = texts.get(part['type']);
  const text = name === undefined ? undefined : part[name];
  return name === undefined || typeof text !== 'string' ? undefined : { name, text };
}

export function* partEvents(part: Members, place: Members): Iterable<ResponseEvent> {
  yield startOfPart(part, place);
  yield* restOfPart(part, place, textOfPart(part)?.text ?? '');
}

export function startOfPart(part: Members, place: Members): ResponseEvent {
  const said = textOfPart(part);
  const empty = said === undefined ? {} : { [said.name]: '' };
  return { type: 'response.content_part.added', ...place, part: { ...part, ...empty } };
}

/** A part from where its text goes on. Its end repeats all of it. */
export function* restOfPart(part: Members, place: Members, left: string): Iterable<ResponseEvent> {
  const said = textOfPart(part);
  if (said !== undefined) yield* textEvents(textIn(part['type']), said.name, place, said.text, left);
  yield { type: 'response.content_part.done', ...place, part };
}

export function deltaOfPart(part: Members, place: Members, delta: string): ResponseEvent {
  return deltaEvent(textIn(part['type']), place, delta);
}

function* textEvents(kind: string, name: string, place: Members, text: string, left = text): Iterable<ResponseEvent> {
  const type = name === 'arguments' ? `${kind}_arguments` : kind;
  if (left !== '' || text === '') yield deltaEvent(type, place, left);
  yield { type: `response.${type}.done`, ...place, [name]: text, ...tokensOf(type) };
}

function deltaEvent(type: string, place: Members, delta: string): ResponseEvent {
  return { type: `response.${type}.delta`, ...place, delta, ...tokensOf(type) };
}

/** Its tokens one by one are not passed on. */
function tokensOf(type: string): Members {
  return type === 'output_text' ? { logprobs: [] } : {};
}
