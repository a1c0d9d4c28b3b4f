import type { Json } from './canonical-json.ts';
import { redactCommands, redactOptions } from './command-secrets.ts';
import type { Range } from '../kernel/index.ts';
import { joined, remembering, replaceRanges } from '../kernel/index.ts';
import { hintFinder } from './secret-hints.ts';
import { mayHoldCommand, redacted } from './secret-options.ts';

/*
 * Texts come from agents and may be long and hostile. Every expression here runs in linear time: it enters each run of
 * characters from its beginning only, and searches for nothing behind an open end.
 */

/** Secrets that their form gives away, anywhere in a text. */
const recognisable = new RegExp(
  [
    `(?<![A-Za-z0-9])(?:${[
      'rv[aikprt]_[A-Za-z0-9_-]{20,}', // Reeve: agent tokens, invites, keys, password resets, refresh tokens, tickets
      'rvl_[A-Za-z0-9_.-]{20,}', // links that decide an approval
      'sk-[A-Za-z0-9_-]{16,}', // OpenAI and Anthropic
      'gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}',
      'glpat-[A-Za-z0-9_-]{16,}',
      'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
      '(?:AKIA|ASIA)[A-Z0-9]{16}',
      'AIza[A-Za-z0-9_-]{30,}',
      '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}', // Stripe
      'npm_[A-Za-z0-9]{30,}',
      'hf_[A-Za-z0-9]{16,}', // Hugging Face
      'SG\\.[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]+)?', // SendGrid
      'ya29\\.[A-Za-z0-9._-]{16,}', // Google
    ].join('|')})`,
    '(?<![\\w-])(?=[\\w-]*?eyJ)[\\w-]{11,}\\.[\\w-]{8,}\\.[\\w-]*', // JWT
    '-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)', // PEM, PGP
  ].join('|'),
  'g',
);

/** The names of secrets. `pass` alone is also part of other words: `compass`, `bypass`. */
const names =
  '(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[_-]?key)?|token|(?:api|access|account|private)[_-]?key|credential|signature|(?<![A-Za-z])pass)s?';

/** A value in quotes. The quotes may be escaped, as in JSON within JSON. */
const quoted = '(?<escape>\\\\{0,7})(?<quote>["\'])(?:\\\\.|[^\\\\]|\\\\$)*?(?<close>\\k<escape>\\k<quote>|$)';

/** `Authorization: Bearer x`, `Cookie: a=x; b=y`: the whole value, whatever its scheme. */
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

/** `https://user:x@host`. A port is not a password: no `@` follows it. */
const userinfo = /(?<lead>:\/\/[^\s/?#@:"']*:)[^\s/?#"']+(?=@)/g;

/** `https://hooks.slack.com/services/…`: anybody with the address may write there. */
const hook = /(?<lead>hooks\.slack(?:-gov)?\.com\/(?:services|triggers|workflows)\/)[^\s"'<>\\)]+/gi;

/** The signature of a shared access URL. */
const shared = /(?<![\w-])(?<lead>sig=)[^\s"'&;,\\]+/gi;

interface SecretForm {
  readonly form: RegExp;
  /** Words of which every match has one in it, for a cheap check. */
  readonly telling: string;
}

export const secretForms: readonly SecretForm[] = [
  {
    form: recognisable,
    telling:
      'rv[aiklprt]_|sk-|gh[pousr]_|github_pat|glpat|xox|AKIA|ASIA|AIza|_live_|_test_|npm_|hf_|SG\\.|ya29|eyJ|PRIVATE KEY',
  },
  { form: header, telling: 'auth|cookie' },
  { form: assigned, telling: 'auth|pass|pwd|secret|token|key|cred|signature' },
  { form: schemes, telling: 'bearer|basic' },
  { form: userinfo, telling: '://' },
  { form: hook, telling: 'hooks\\.slack' },
  { form: shared, telling: 'sig=' },
];

/** A cheap check before the careful one. */
export const mayHoldSecret = new RegExp(
  [...secretForms.map(({ telling }) => telling), mayHoldCommand.source].join('|'),
  'i',
);

/** The next place of a text that the check finds something at, or -1. */
export const nextHintOfSecret = hintFinder(mayHoldSecret);

/** The names of tools, servers and runs come again and again. What agents say otherwise is longer. */
const longestName = 100;

/** The text with every recognised secret replaced. What holds a secret is not remembered. */
export const redactText = remembering(redactedText, {
  longest: longestName,
  isKept: (text, shown) => shown === text,
});

function redactedText(text: string): string {
  if (!mayHoldSecret.test(text)) return text;
  const secrets = joined([...findSecrets(text)]);
  const found = secrets.length === 0 ? text : replaceRanges(text, secrets, () => redacted);
  return mayHoldCommand.test(found) ? redactCommands(found) : found;
}

/** The secrets in a text that their form or the words before them give away. They may overlap. */
export function* findSecrets(text: string): Generator<Range> {
  if (text.length < 4 || !mayHoldSecret.test(text)) return;
  for (const { form } of secretForms) {
    for (const match of text.matchAll(form)) {
      const secret = secretIn(match);
      if (secret !== undefined) yield secret;
    }
  }
}

/** What announces a secret, with all that may stand between it and the secret. */
const announced = new RegExp(
  [
    `(?:${names}|authorization|cookie)\\d*\\\\{0,7}["']?\\s*(?:[=:]{1,2}>?\\s*)?$`,
    '\\b(?:bearer|basic)\\s+$',
    '-----BEGIN [A-Z ]*$',
    '://[^\\s/?#"\']*$',
  ].join('|'),
  'i',
);

/**
 * Whether a text whose end has not come yet can be cut behind a blank, or behind a letter that no form of a secret has: the
 * secrets in its parts are those of the whole. One that has begun, or was announced, goes on up to its end, however far that is.
 */
export function breaksSecrets(text: string, at: number): boolean {
  if (!/[\s\u0080-\uffff]/.test(text.charAt(at - 1))) return false;
  let word = at;
  while (word > 0 && !/[\s"'&,;]/.test(text.charAt(word - 1))) word--;
  // A value that goes on may be a number of tokens so far.
  if (announced.test(text.slice(0, word)) || /[=:]/.test(text.slice(word, at))) return false;
  const before = text.slice(0, at);
  if (announced.test(before)) return false;
  for (const { end } of findSecrets(before)) if (end >= at) return false;
  return true;
}

/** What follows the words that announce a secret, without its quotes. */
function secretIn({ 0: whole, index, groups = {} }: RegExpExecArray): Range | undefined {
  const { basic = '', lead = basic, name, escape = '', quote = '', close = '', bare } = groups;
  if (name !== undefined && bare !== undefined && isCount(name, bare)) return undefined;
  return { start: index + lead.length + escape.length + quote.length, end: index + whole.length - close.length };
}

/** `max_tokens: 4096` is a number of tokens, not a token. */
function isCount(name: string, value: string): boolean {
  return /tokens$/i.test(name) && /^\d+[^\w-]*$/.test(value);
}

/**
 * Whether a JSON text may hold anything to redact and is worth walking. Escapes could hide a name or a secret from this
 * check, so a text with escapes is always walked.
 */
export function mayNeedRedaction(json: string): boolean {
  return json.includes('\\') || mayHoldOrName.test(json);
}

/** The names of secrets that only JSON tells from other words. One expression looks at each character once. */
const mayHoldOrName = new RegExp(`${mayHoldSecret.source}|session|pin|cvv|otp|sig`, 'i');

/** Replaces every recognised secret in a value: by form in texts, and whole under a telling member name. */
export function redact(value: Json): Json {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return redactList(value as readonly Json[], '');
  const command = commandAmong(value as JsonObject);
  const members = Object.entries(value as JsonObject).map(([name, member]): [string, Json] => [
    redactText(name),
    namesSecret(name, member) ? redacted : redactMember(member, command),
  ]);
  return Object.fromEntries(members);
}

/** A member beside a command may hold its arguments, as a list or as one text. */
function redactMember(member: Json, command: string): Json {
  if (Array.isArray(member)) return redactList(member as readonly Json[], command);
  return typeof member === 'string' && member !== command && mayHoldCommand.test(command)
    ? (redactArguments([member], command)[0] ?? '')
    : redact(member);
}

type JsonObject = { readonly [member: string]: Json };

/** A list of texts may hold the arguments of a command. The command is the first item, or a member beside the list. */
function redactList(list: readonly Json[], command: string): Json {
  return list.every((item) => typeof item === 'string')
    ? redactArguments(list, command)
    : list.map((item) => redact(item));
}

function commandAmong(value: JsonObject): string {
  const named = ['command', 'cmd', 'program', 'executable'].map((name) => value[name]);
  return named.find((member) => typeof member === 'string') ?? '';
}

const secretMember =
  /(?:pass(?:word|wd|phrase|code)|secret(?:_?key)?|token|(?:api|access|account|private)_?key|authorization|cookie|credential|session_?id|(?:^|_)(?:pass|pwd|auth|pin|cvv|otp|sig))s?\d*$/i;

export function namesSecret(name: string, value: Json): boolean {
  if (value === null) return false;
  const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').replace(/[-.\s]/g, '_');
  return secretMember.test(words) && !(typeof value === 'number' && /tokens$/i.test(words));
}

const announcing = new RegExp(`^--?[\\w-]*?(?:${names}|authorization)$`, 'i');

/** Redacts the arguments of a command. One argument may announce a secret in the next: `--password`, `hunter2`. */
export function redactArguments(args: readonly string[], command = ''): string[] {
  const options = redactOptions(command, args);
  return options.map((argument, index) => (announcing.test(args[index - 1] ?? '') ? redacted : redactText(argument)));
}
