import type { Json } from './canonical-json.ts';

export const redacted = '[redacted]';

/*
 * Texts come from agents and may be long and hostile. Every expression here takes time in proportion to the length of
 * the text: each run of characters is entered from its beginning only, and nothing is looked for behind an open end.
 */

/** Secrets that can be told by their form, wherever they stand in a text. */
const recognisable = new RegExp(
  [
    `(?<![A-Za-z0-9])(?:${[
      'rv[ka]_[A-Za-z0-9_-]{20,}', // Reeve keys and agent tokens
      'sk-[A-Za-z0-9_-]{16,}', // OpenAI and Anthropic
      'gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}',
      'glpat-[A-Za-z0-9_-]{16,}',
      'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
      '(?:AKIA|ASIA)[A-Z0-9]{16}',
      'AIza[A-Za-z0-9_-]{30,}',
      '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}', // Stripe
      'npm_[A-Za-z0-9]{30,}',
    ].join('|')})`,
    '(?<![\\w-])(?=[\\w-]*?eyJ)[\\w-]{11,}\\.[\\w-]{8,}\\.[\\w-]*', // JWT
    '-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)',
  ].join('|'),
  'g',
);

/** What a secret is called. `pass` by itself is a word of many others: `compass`, `bypass`. */
const names =
  '(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[_-]?key)?|token|(?:api|access|private)[_-]?key|credential|signature|(?<![A-Za-z])pass)s?';

/** A value in quotes, which may themselves be escaped, as in JSON within JSON. */
const quoted = '(?<escape>\\\\{0,7})(?<quote>["\'])(?:\\\\.|[^\\\\]|\\\\$)*?(?<close>\\k<escape>\\k<quote>|$)';

/** `Authorization: Bearer x`, `Cookie: a=x; b=y`: all that follows, whatever its scheme. */
const header = new RegExp(
  `(?<lead>(?:authorization|cookie)\\\\{0,7}["']?\\s*[=:]\\s*)(?:${quoted}|[^\\r\\n"'\\\\]+)`,
  'gis',
);

/** `password=x`, `"token": "x"`, `--secret x`. */
const assigned = new RegExp(
  `(?<lead>(?<name>${names})\\d*\\\\{0,7}["']?\\s*[=:]{1,2}>?\\s*|(?<![\\w-])--?[\\w-]*?(?:${names}|authorization)\\s+)` +
    `(?:${quoted}|(?<bare>[^\\s"'&,;]+))`,
  'gis',
);

/** `Bearer x` and `Basic x` by themselves, where `x` does not look like a word. */
const schemes =
  /(?<lead>\b(?:[Bb]earer|BEARER)\s+)(?=[\w.~+/-]*\d|[\w.~+/-]{20})[\w.~+/=-]{8,}|(?<basic>\b(?:[Bb]asic|BASIC)\s+)(?=[\w+/][\w+/]*[A-Z0-9=])[\w+/]{6,}=*/g;

/** `https://user:x@host`. A port is no password: it has no `@` behind it. */
const userinfo = /(:\/\/[^\s/?#@:"']*:)[^\s/?#"']+(?=@)/g;

const mayHoldSecret =
  /rv[ka]_|sk-|gh[pousr]_|github_pat|glpat|xox|AKIA|ASIA|AIza|_live_|_test_|npm_|eyJ|PRIVATE KEY|bearer|basic|pass|pwd|secret|token|key|auth|cred|signature|cookie|:\/\//i;

/** The text with every recognised secret replaced. */
export function redactText(text: string): string {
  if (text.length < 4 || !mayHoldSecret.test(text)) return text;
  return text
    .replace(recognisable, redacted)
    .replace(header, replaceValue)
    .replace(assigned, replaceValue)
    .replace(schemes, `$<lead>$<basic>${redacted}`)
    .replace(userinfo, `$1${redacted}`);
}

interface Announced {
  readonly lead: string;
  readonly name?: string;
  readonly escape?: string;
  readonly quote?: string;
  readonly close?: string;
  readonly bare?: string;
}

function replaceValue(whole: string, ...groups: unknown[]): string {
  const { lead, name, escape = '', quote = '', close = '', bare } = groups.at(-1) as Announced;
  if (name !== undefined && bare !== undefined && isCount(name, bare)) return whole;
  return `${lead}${escape}${quote}${redacted}${close}`;
}

/** `max_tokens: 4096` is a number of tokens and not one of them. */
function isCount(name: string, value: string): boolean {
  return /tokens$/i.test(name) && /^\d+[^\w-]*$/.test(value);
}

/**
 * Whether a JSON document, as text, may hold anything to be replaced: then it is worth walking. Escapes could hide a
 * name or a secret from this look, so a document that has any is walked.
 */
export function mayNeedRedaction(json: string): boolean {
  return json.includes('\\') || mayHoldSecret.test(json) || mayNameSecret.test(json);
}

const mayNameSecret = /session|pin|cvv|otp/i;

/** The value with every recognised secret replaced: by form in texts, and whole under a telling member name. */
export function redact(value: Json): Json {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => redact(item));
  const members = Object.entries(value as { readonly [member: string]: Json }).map(([name, member]): [string, Json] => [
    redactText(name),
    namesSecret(name, member) ? redacted : redact(member),
  ]);
  return Object.fromEntries(members);
}

const secretMember =
  /(?:pass(?:word|wd|phrase|code)|secret(?:_?key)?|token|(?:api|access|private)_?key|authorization|cookie|credential|session_?id|(?:^|_)(?:pass|pwd|auth|pin|cvv|otp))s?\d*$/i;

function namesSecret(name: string, value: Json): boolean {
  if (value === null) return false;
  const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').replace(/[-.\s]/g, '_');
  return secretMember.test(words) && !(typeof value === 'number' && /tokens$/i.test(words));
}

const announcing = new RegExp(`^--?[\\w-]*?(?:${names}|authorization)$`, 'i');

/** The arguments of a command. A secret may be announced by one and stand in the next: `--password`, `hunter2`. */
export function redactArguments(args: readonly string[]): string[] {
  return args.map((argument, index) => (announcing.test(args[index - 1] ?? '') ? redacted : redactText(argument)));
}
