import { bounds } from '@reeve/contract';
import { isTooDeep } from '../../json/nesting.ts';
import { jsonMembers } from '../json-members.ts';
import type { JsonRequest } from '../json-request.ts';
import { parseRequest } from '../json-request.ts';
import { JsonPlaces } from './json-places.ts';
import type { Cut, Replacement } from './replaced-in.ts';
import { cutsFor, withCuts } from './replaced-in.ts';
import { requireClearMessages } from './require-clear-messages.ts';

/** The prompt cannot be masked, or what came back is not the prompt that was asked about. */
export class UnmaskablePrompt extends Error {}

/**
 * Members that describe a form: of tools, or of the answer. The names in them are part of the form, and say nothing of what
 * they name. So only their texts are judged, and numbers that are as long as a card's.
 */
const forms = new Set([
  ...['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers'],
  ...['response_format', 'text', 'output_format', 'output_config'],
]);
/** More than any description of tools has. Each text is looked for by all the names above it. */
const [deepestForm, mostTexts, mostValues] = [48, 20_000, 200_000];
/** To find where texts stand, the bytes of a form are read once for each level above them, also those that say nothing. */
const mostRead = 64 * 1024 * 1024;
/** What the call was judged by. */
const judgedAlready = new Set(['model']);

/**
 * The request with its prompt as `judge` gives it back: all that it says but for the model, short numbers and flags. What is judged
 * is a document of the request's own members, in their own bytes, and the texts of those that describe a form. What is not
 * masked stays, byte for byte.
 */
export async function withMaskedPrompt(
  request: JsonRequest,
  judge: (prompt: string) => Promise<string>,
): Promise<JsonRequest> {
  const parts = partsOf(request);
  const prompt = `{${parts.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join()}}`;
  if (Buffer.byteLength(prompt) > bounds.result) throw new UnmaskablePrompt(`it has more than ${bounds.result} bytes`);
  const judged = await judge(prompt);
  if (judged === prompt) return request;
  const masked = membersOf(judged);
  if (masked.length !== parts.length) throw new UnmaskablePrompt('its members are not those that were judged');
  const cuts = parts.flatMap((part, nth) => cutsOf(request, part, masked[nth]));
  const changed = parseRequest(withCuts(request.body, cuts));
  requireClearMessages(changed);
  return changed;
}

/** A member of the request, as it is judged. */
interface PromptPart {
  readonly key: string;
  /** JSON. */
  readonly text: string;
  /** Where it stands. Undefined for a form, whose texts stand at places of their own. */
  readonly at?: { readonly from: number; readonly to: number };
  readonly texts?: readonly Replacement[];
}

function partsOf({ body, value, places }: JsonRequest): readonly PromptPart[] {
  let inBody: JsonPlaces | undefined;
  let read = 0;
  return places.members.flatMap(({ key, from, to }): readonly PromptPart[] => {
    const member = value[key];
    const says = isSaid(member) || (typeof member === 'object' && member !== null);
    if (!says || judgedAlready.has(key)) return [];
    if (key === 'input' && holdsTokens(member))
      throw new UnmaskablePrompt('it is made of tokens, which nobody can read');
    if (!forms.has(key)) return [{ key, text: body.toString('utf8', from, to), at: { from, to } }];
    const texts = textsIn(member, key);
    if (texts.length === 0) return [];
    read += (to - from) * texts.reduce((deepest, { path }) => Math.max(deepest, path.length), 0);
    if (read > mostRead) throw new UnmaskablePrompt(`${JSON.stringify(key)} is too long for how deep it is`);
    return [{ key, text: `[${texts.map(written).join()}]`, texts }];
  });
  /** As JSON. A number has more digits in the request than a program may hold. */
  function written({ path, content }: Replacement): string {
    if (typeof content === 'string') return JSON.stringify(content);
    const place = (inBody ??= new JsonPlaces(body)).find(path);
    if (place === undefined) throw new UnmaskablePrompt(`${JSON.stringify(path[0])} has a number that is not found`);
    return body.toString('utf8', place.from, place.to);
  }
}

/** A card has at least 13 digits. */
const shortestCard = 1e12;

function isSaid(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'number' && Math.abs(value) >= shortestCard);
}

/** Embeddings take the numbers of tokens in place of a text. */
function holdsTokens(input: unknown): boolean {
  if (!Array.isArray(input)) return false;
  return input.some((each) => typeof each === 'number' || (Array.isArray(each) && each.some(Number.isFinite)));
}

/** A list or an object whose members are looked at. */
interface Opened {
  readonly members: Readonly<Record<string | number, unknown>>;
  /** Undefined for a list. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  at: number;
}

function opened(value: object): Opened {
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  const { length } = names ?? (value as readonly unknown[]);
  return { members: value as Opened['members'], names, length, at: -1 };
}

function nameIn({ names, at }: Opened): string | number {
  return names?.[at] ?? at;
}

/**
 * What a form says, in its order. A request has room for millions of values, and nobody else gets a turn meanwhile: so it ends at
 * the first one beyond the bounds, and only what is said has a path.
 */
function textsIn(form: unknown, key: string): readonly Replacement[] {
  const texts: Replacement[] = [];
  const above: Opened[] = [];
  let values = 0;
  const unmaskable = (why: string) => new UnmaskablePrompt(`${JSON.stringify(key)} ${why}`);
  const visit = (value: unknown) => {
    if (++values > mostValues) throw unmaskable(`has more than ${mostValues} values`);
    if (isSaid(value)) {
      if (texts.length === mostTexts) throw unmaskable(`has more than ${mostTexts} texts`);
      texts.push({ path: [key, ...above.map(nameIn)], content: value });
    } else if (typeof value === 'object' && value !== null) {
      if (above.length === deepestForm) throw unmaskable('is nested too deeply');
      above.push(opened(value));
    }
  };
  visit(form);
  for (let last = above.at(-1); last !== undefined; last = above.at(-1)) {
    if (++last.at < last.length) visit(last.members[nameIn(last)]);
    else above.pop();
  }
  return texts;
}

interface MaskedMember {
  readonly key: string;
  readonly text: Buffer;
}

function membersOf(judged: string): readonly MaskedMember[] {
  if (isTooDeep(judged)) throw new UnmaskablePrompt('it is nested too deeply');
  const bytes = Buffer.from(judged);
  return jsonMembers(bytes).members.map(({ key, from, to }) => ({ key, text: bytes.subarray(from, to) }));
}

function cutsOf({ body }: JsonRequest, part: PromptPart, masked: MaskedMember | undefined): readonly Cut[] {
  // A name of the request is its protocol, and cannot be another one.
  if (masked?.key !== part.key) throw new UnmaskablePrompt('a rule masks the name of one of its members');
  if (masked.text.equals(Buffer.from(part.text))) return [];
  if (part.at !== undefined) return [{ ...part.at, text: masked.text }];
  const texts = part.texts ?? [];
  const found = JSON.parse(masked.text.toString()) as unknown;
  // What was masked is a text, also where it was a number.
  const fits = (each: unknown, nth: number) => typeof each === 'string' || each === texts[nth]?.content;
  if (!Array.isArray(found) || found.length !== texts.length || !found.every(fits)) {
    throw new UnmaskablePrompt(`a rule masks all of ${JSON.stringify(part.key)}`);
  }
  const changed = texts.flatMap(({ path, content }, nth) =>
    found[nth] === content ? [] : [{ path, content: found[nth] as string }],
  );
  return cutsFor(body, changed);
}
