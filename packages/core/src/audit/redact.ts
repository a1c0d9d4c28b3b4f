import type { Json } from './canonical-json.ts';

export const redacted = '[redacted]';

/** Secrets that can be told by their form, wherever they stand in a text. */
const recognisable = new RegExp(
  [
    'rv[ka]_[A-Za-z0-9_-]{20,}', // Reeve keys and agent tokens
    'sk-[A-Za-z0-9_-]{16,}', // OpenAI and Anthropic
    'gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}',
    'glpat-[A-Za-z0-9_-]{16,}',
    'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
    '(?:AKIA|ASIA)[A-Z0-9]{16}',
    'AIza[A-Za-z0-9_-]{30,}',
    '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}', // Stripe
    'npm_[A-Za-z0-9]{30,}',
    'eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*', // JWT
    '-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)',
  ].join('|'),
  'g',
);

/** Secrets that are told by what stands before them: `Bearer x`, `password=x`, `--token x`, `https://user:x@host`. */
const announced =
  /(\b(?:bearer|basic)\s+|(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|authorization|credential|signature)s?["']?\s*[=:]\s*["']?(?!\[redacted\])|--?(?:pass(?:word)?|token|secret|api-key)\s+|:\/\/[^\s/:@]*:)[^\s"'&,;@]+/gi;

const mayHoldSecret =
  /rv[ka]_|sk-|gh[pousr]_|github_pat|glpat|xox|AKIA|ASIA|AIza|_live_|_test_|npm_|eyJ|PRIVATE KEY|bearer|basic|pass|pwd|secret|token|key|auth|cred|signature|:\/\//i;

const secretMember =
  /^(?:.*[_-])?(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|auth|cookie|credentials?|session[_-]?id|pin|cvv|otp)s?$/i;

/** The text with every recognised secret replaced. */
export function redactText(text: string): string {
  if (text.length < 4 || !mayHoldSecret.test(text)) return text;
  return text.replace(recognisable, redacted).replace(announced, `$1${redacted}`);
}

/** The value with every recognised secret replaced: by form in texts, and whole under a telling member name. */
export function redact(value: Json): Json {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => redact(item));
  const members = Object.entries(value as { readonly [member: string]: Json }).map(([name, member]): [string, Json] => [
    redactText(name),
    namesSecret(name) && member !== null ? redacted : redact(member),
  ]);
  return Object.fromEntries(members);
}

function namesSecret(name: string): boolean {
  return secretMember.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'));
}

const announcing =
  /^--?(?:[a-z-]*-)?(?:pass(?:word|wd|phrase)?|pwd|token|secret|api-?key|credentials?|authorization)$/i;

/** The arguments of a command. A secret may be announced by one and stand in the next: `--password`, `hunter2`. */
export function redactArguments(args: readonly string[]): string[] {
  return args.map((argument, index) => (announcing.test(args[index - 1] ?? '') ? redacted : redactText(argument)));
}
