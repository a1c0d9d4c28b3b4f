import { isDeepStrictEqual } from 'node:util';
import { ReeveInternal } from '../errors.ts';
import type { Operation } from '../operation.ts';

/** Members of a request to a model, by what rules mask of them. An adapter that has them sends what comes back in their place. */
export interface AskedPrompt {
  /** What the model is asked, as plain JSON. */
  readonly says: Readonly<Record<string, unknown>>;
  /** What describes a form, of tools or of the answer. The names in it are part of the form, so only its texts are masked. */
  readonly forms: Readonly<Record<string, unknown>>;
}

/** The members of a request that differ from what was asked, because rules have masked them. Throws if the call must not happen. */
export async function maskedMembers(
  { answer, checkPrompt, spent, ended }: Operation,
  { says, forms }: AskedPrompt,
): Promise<Readonly<Record<string, unknown>>> {
  if (!answer.judgePrompt) return {};
  const texts = Object.entries(forms).map(([name, form]) => [name, [...textsIn(form)]] as const);
  const prompt: Readonly<Record<string, unknown>> = { ...says, ...Object.fromEntries(texts) };
  try {
    const masked = await checkPrompt(prompt);
    if (isDeepStrictEqual(masked, prompt)) return {};
    // A name that is masked would leave the member that it named as it was.
    if (!isDeepStrictEqual(Object.keys(masked), namesIn(prompt))) {
      throw new ReeveInternal('a rule masks the name of a member of the prompt, which cannot be another one');
    }
    const changed = Object.entries(forms).map(([name, form]) => [name, withTexts(form, listOf(masked[name]))]);
    return { ...masked, ...Object.fromEntries(changed) };
  } catch (error) {
    // Nothing was sent.
    spent(0);
    ended('cancelled');
    throw error;
  }
}

/** The members that JSON has. */
function namesIn(prompt: AskedPrompt['says']): readonly string[] {
  return Object.keys(prompt).filter((name) => prompt[name] !== undefined);
}

function* textsIn(form: unknown): Generator<string> {
  if (typeof form === 'string') yield form;
  else if (typeof form === 'object' && form !== null) for (const member of Object.values(form)) yield* textsIn(member);
}

/** The same form with other texts, in the order in which they were found. */
function withTexts(form: unknown, texts: Iterator<unknown>): unknown {
  if (typeof form === 'string') return textOf(texts.next().value);
  if (Array.isArray(form)) return form.map((each) => withTexts(each, texts));
  if (typeof form !== 'object' || form === null) return form;
  return Object.fromEntries(Object.entries(form).map(([name, member]) => [name, withTexts(member, texts)]));
}

function listOf(masked: unknown): Iterator<unknown> {
  if (Array.isArray(masked)) return masked.values();
  throw new TypeError('a rule masks more of the prompt than its texts');
}

function textOf(masked: unknown): string {
  if (typeof masked === 'string') return masked;
  throw new TypeError('a rule masks more of the prompt than its texts');
}
