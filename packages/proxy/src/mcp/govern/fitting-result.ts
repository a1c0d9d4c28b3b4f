import type { JsonObject } from '../protocol/written-json.ts';
import { isObject } from '../protocol/written-json.ts';

/** Members whose own members may be of any kind. */
const freeMembers = new Set(['structuredContent', '_meta']);
const freeInForms = new Set(['content', '_meta']);
/** Half of a picture is none. */
const encoded = new Set(['data', 'blob']);
const masked = 'masked by policy';

/**
 * The result that masks leave, as its method demands it, of the result that came. A mask may replace what the protocol
 * needs, such as a list by a text. In the result of a tool a text then takes its place; of other methods there is none.
 */
export function fittingResult(method: string, before: unknown, after: unknown): unknown {
  const free = method === 'elicitation/create' ? freeInForms : freeMembers;
  if (hasSameForm(before, after, free)) return after;
  if (method !== 'tools/call' || !isObject(before) || !isObject(after)) return undefined;
  const { content, structuredContent, ...rest } = after;
  const others = Object.entries(rest).filter(([name, each]) => hasSameForm(before[name], each, free));
  return {
    ...(before['resultType'] === undefined ? {} : { resultType: before['resultType'] }),
    ...Object.fromEntries(others),
    ...(Array.isArray(before['content']) ? { content: fittingContent(before['content'], content) } : {}),
    ...(isObject(structuredContent) ? { structuredContent } : {}),
  };
}

/** Whether an error that masks leave is still one. */
export function isFittingError(before: unknown, after: unknown): boolean {
  const withoutData = (error: unknown) => (isObject(error) ? { ...error, data: undefined } : error);
  return hasSameForm(withoutData(before), withoutData(after), freeMembers);
}

function fittingContent(before: readonly unknown[], after: unknown): unknown[] {
  if (!Array.isArray(after)) return [textOf(after)];
  return after.map((item: unknown, at) => (hasSameForm(before[at], item, freeMembers) ? item : textOf(item)));
}

function textOf(left: unknown): JsonObject {
  return { type: 'text', text: typeof left === 'string' ? left : masked };
}

/** Whether everything is of the kind that it was, under the names that it had. Only texts differ, and not those of bytes. */
function hasSameForm(before: unknown, after: unknown, free: ReadonlySet<string>): boolean {
  if (Array.isArray(before)) {
    if (!Array.isArray(after) || before.length !== after.length) return false;
    return before.every((item, at) => hasSameForm(item, after[at], free));
  }
  if (!isObject(before)) return typeof before === typeof after && (before === null) === (after === null);
  if (!isObject(after)) return false;
  return Object.keys(before).every((name) => {
    const [was, is] = [before[name], after[name]];
    if (free.has(name)) return isObject(was) === isObject(is);
    if (encoded.has(name) && typeof was === 'string') return was === is;
    return hasSameForm(was, is, free);
  });
}
