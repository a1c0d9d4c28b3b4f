import { isDeepStrictEqual } from 'node:util';
import { ReeveError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { ResultDenied } from '../result-denied.ts';
import { fileTextIn, ReadPrompt } from './prompt-files.ts';
import { unfit, UnmaskablePrompt } from './unmaskable-prompt.ts';

/** Members of a request to a model, by what rules mask of them. An adapter that has them sends what comes back in their place. */
export interface AskedPrompt {
  /** What the model is asked, as JSON. It may hold bytes and URLs. */
  readonly says: Readonly<Record<string, unknown>>;
  /**
   * What describes a form, of tools or of the answer. The names in it are part of the form, so only its texts are masked, and
   * numbers that are as long as a card's.
   */
  readonly forms: Readonly<Record<string, unknown>>;
  /** What the provider gets beside, and no adapter changes: where rules mask a text or a name in it, the call is not made. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** What of a masked `says` is sent, where plain JSON is not the framework's own form. Throws if it cannot be. */
  readonly put?: (masked: AskedPrompt['says']) => AskedPrompt['says'];
}

/** The members of a request that differ from what was asked, because rules have masked them. Throws if the call must not happen. */
export async function maskedMembers(
  operation: Operation,
  asked: AskedPrompt,
): Promise<Readonly<Record<string, unknown>>> {
  const { answer, id, spent, ended } = operation;
  if (!answer.judgePrompt) return {};
  try {
    return await judgedMembers(operation, asked);
  } catch (error) {
    // Nothing was sent.
    spent(0);
    ended('cancelled');
    if (error instanceof ReeveError) throw error;
    const why = error instanceof UnmaskablePrompt ? error.message : 'it cannot be read';
    throw new ResultDenied({ opId: id, reason: `the prompt cannot be masked: ${why}`, source: 'sdk' });
  }
}

async function judgedMembers(
  { checkPrompt }: Operation,
  { says, forms, fixed, put = (masked) => masked }: AskedPrompt,
): Promise<Readonly<Record<string, unknown>>> {
  const read = new ReadPrompt(says);
  const options = textsOf(fixed, 'with names').filter(([, texts]) => texts.length > 0);
  const prompt: Readonly<Record<string, unknown>> = {
    ...read.json,
    ...Object.fromEntries(textsOf(forms)),
    ...(read.files.length > 0 ? { files: read.files } : {}),
    ...(options.length > 0 ? { options: options.map(([, texts]) => texts) } : {}),
  };
  const masked = await checkPrompt(prompt);
  if (isDeepStrictEqual(masked, prompt)) return {};
  // A name that is masked would leave the member that it named as it was.
  if (!isDeepStrictEqual(Object.keys(masked), namesIn(prompt))) {
    throw new UnmaskablePrompt('a rule masks the name of a member of the prompt, which cannot be another one');
  }
  const { options: judged = [], files = [], ...left } = masked;
  requireSame(options, [...listOf(judged)]);
  const said = Object.fromEntries(Object.entries(left).filter(([name]) => !Object.hasOwn(forms, name)));
  const changed = Object.entries(forms).map(([name, form]) => [name, withTexts(form, listOf(left[name]))]);
  return { ...put(read.put(said, [...listOf(files)])), ...Object.fromEntries(changed) };
}

/** The members that JSON has. */
function namesIn(prompt: AskedPrompt['says']): readonly string[] {
  return Object.keys(prompt).filter((name) => prompt[name] !== undefined);
}

type Said = string | number;

type NamedTexts = readonly [name: string, texts: readonly Said[]];

function textsOf(members: Readonly<Record<string, unknown>>, names?: 'with names'): readonly NamedTexts[] {
  return Object.entries(members).map(([name, member]) => [name, [...textsIn(member, names)]]);
}

function requireSame(options: readonly NamedTexts[], judged: readonly unknown[]): void {
  const other = options.find(([, texts], at) => !isDeepStrictEqual(judged[at], texts));
  if (other === undefined) return;
  throw new UnmaskablePrompt(`a rule masks a text in ${other[0]}, which is sent as it is or not at all`);
}

/** A card has at least 13 digits. */
const shortestCard = 1e12;

function isSaid(value: unknown): value is Said {
  return typeof value === 'string' || (Number.isFinite(value) && Math.abs(value as number) >= shortestCard);
}

function* textsIn(form: unknown, names?: 'with names'): Generator<Said> {
  if (isSaid(form)) yield form;
  const file = typeof form === 'string' ? fileTextIn(form) : undefined;
  if (file !== undefined) yield file.text;
  if (typeof form !== 'object' || form === null) return;
  // What a provider makes of an object that is more than its members, nobody knows here.
  if (!Array.isArray(form) && !isPlain(form)) throw new UnmaskablePrompt('what is sent beside it is no plain JSON');
  for (const [name, member] of Object.entries(form)) {
    if (names !== undefined && !Array.isArray(form)) yield name;
    yield* textsIn(member, names);
  }
}

function isPlain(form: object): boolean {
  const made: unknown = Object.getPrototypeOf(form);
  return (made === null || made === Object.prototype) && typeof (form as { toJSON?: unknown }).toJSON !== 'function';
}

/** The same form with other texts, in the order in which they were found. */
function withTexts(form: unknown, texts: Iterator<unknown>): unknown {
  if (isSaid(form)) return leftOf(form, texts);
  if (Array.isArray(form)) return form.map((each) => withTexts(each, texts));
  if (typeof form !== 'object' || form === null) return form;
  return Object.fromEntries(Object.entries(form).map(([name, member]) => [name, withTexts(member, texts)]));
}

function listOf(masked: unknown): IterableIterator<unknown> {
  if (Array.isArray(masked)) return masked.values();
  throw unfit();
}

/** The text or number as it is left, and so the file that it holds. */
function leftOf(given: Said, texts: Iterator<unknown>): Said {
  const said = saidFor(given, texts.next().value);
  const file = typeof given === 'string' ? fileTextIn(given) : undefined;
  if (file === undefined) return said;
  const text = saidFor(file.text, texts.next().value);
  if (text === file.text) return said;
  if (said !== given && !file.hasAll) throw unfit();
  return file.written(String(text));
}

/** What was masked is a text, also where it was a number. */
function saidFor(given: Said, masked: unknown): Said {
  if (masked === given) return given;
  if (typeof masked === 'string') return masked;
  throw unfit();
}
