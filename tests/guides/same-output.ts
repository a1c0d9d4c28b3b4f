/** A part of a text that differs from run to run: it holds a digit, or is left out with "…". */
const volatile = /[\w+/=-]*(?:…|[\w+/=-]*\d)[\w.:+/=…-]*/g;

/** What a shown text stands for in this run, by what the guide shows. */
export type Names = Map<string, string>;

/**
 * Why what came is not what a guide shows; undefined if it is. Ids, times and numbers may differ, and are learned: where a
 * later command names what was shown, it gets what came.
 */
export function differenceOf(shown: string, came: string, names: Names): string | undefined {
  const [one, other] = [jsonIn(shown), jsonIn(came)];
  if (one !== undefined && other !== undefined) return differentJson(one, other, '', names);
  if (/^\s*[[{"]/.test(shown)) return differentMembers(shown, came, names);
  const lines = came.split('\n').map((line) => line.trimEnd());
  let at = 0;
  for (const line of shown.split('\n').map((each) => each.trimEnd())) {
    if (line.trim() === '') continue;
    const pattern = patternOf(line);
    const found = lines.findIndex((each, index) => index >= at && pattern.test(each));
    if (found === -1) return `no line is like ${JSON.stringify(line)}`;
    learn(line, lines[found] ?? '', names);
    at = found + 1;
  }
  return undefined;
}

/** A text of JSON with parts left out: every member that it shows is there. */
function differentMembers(shown: string, came: string, names: Names): string | undefined {
  const members = (text: string) => [...text.matchAll(/"(\w+)":\s*("(?:[^"\\]|\\.)*"|[-\d.]+|true|false|null)/g)];
  const found = members(came);
  for (const [member, key, value = ''] of members(shown)) {
    const same = found.find((each) => each[1] === key && patternOf(value).test(each[2] ?? ''));
    if (same === undefined) return `no member is like ${member}`;
    learn(value, same[2] ?? '', names);
  }
  return undefined;
}

/** The pieces that may differ become wildcards, and so does the space between columns. */
function patternOf(line: string): RegExp {
  const pieces = line
    .split(volatile)
    .map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/ +/g, ' +'));
  return new RegExp(`^ *${pieces.join('(.*?)')} *$`);
}

function learn(shown: string, came: string, names: Names): void {
  const pieces = shown.match(volatile) ?? [];
  const found = patternOf(shown).exec(came)?.slice(1) ?? [];
  for (const [at, piece] of pieces.entries()) name(piece, found[at] ?? '', names);
}

/** Short numbers are no names: they would be found anywhere. */
function name(shown: string, came: string, names: Names): void {
  if (shown.length >= 8 && came !== '' && shown !== came) names.set(shown, came);
}

function jsonIn(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function differentJson(shown: unknown, came: unknown, path: string, names: Names): string | undefined {
  if (typeof shown === 'string' && typeof came === 'string') {
    const isLike = patternOf(shown).test(came);
    if (isLike) learn(shown, came, names);
    return isLike ? undefined : `${path} is ${JSON.stringify(came)}, not ${JSON.stringify(shown)}`;
  }
  if (Array.isArray(shown) && Array.isArray(came)) {
    if (shown.length > 0 && came.length === 0) return `${path} is empty`;
    return shown.map((each, at) => differentJson(each, came[at] ?? came[0], `${path}[${at}]`, names)).find(Boolean);
  }
  if (isObject(shown) && isObject(came)) {
    const missing = Object.keys(shown).filter((key) => !(key in came));
    const more = Object.keys(came).filter((key) => !(key in shown));
    if (missing.length + more.length > 0) return `${path} has other members: ${[...missing, '|', ...more].join(' ')}`;
    return Object.entries(shown)
      .map(([key, value]) => differentJson(value, came[key], `${path}.${key}`, names))
      .find(Boolean);
  }
  // A number, or null for what has not happened yet, differs from run to run.
  const isEither = (value: unknown) => value === null || typeof value === 'string' || typeof value === 'number';
  if (shown === came || (isEither(shown) && isEither(came))) return undefined;
  return `${path} is ${JSON.stringify(came)}, not ${JSON.stringify(shown)}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
