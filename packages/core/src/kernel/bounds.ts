import { invalid } from './errors.ts';

/** How long texts may be, in UTF-16 code units. The contract sets these, and a test compares them with its table. */
export const longest = {
  /** The name of a thing: a tool, its source, a model, a host, a protocol, an operation, a framework, a person. */
  name: 512,
  /** Written-out text: a path, a command with its arguments, a URL, a summary, a reason, a detail. */
  text: 8192,
  /** The reason that an agent is told. */
  toldReason: 1024,
  runId: 128,
  credentialToken: 512,
  version: 128,
} as const;

/** How many bytes a page of a list may hold. A page that would pass this has fewer items, but at least one. */
export const mostBytesOfPage = 4 * 1024 * 1024;

/** Arguments and results of more bytes than this, as sent, are kept as length and digest. */
export const mostBytesOfArguments = 16 * 1024;

/** Rewritten arguments of more bytes than this are refused: most clients take no longer answer. */
export const mostBytesOfRewritten = 4 * 1024 * 1024 - 65_536;

/** The JWT of the user for whom an agent acts may have this many bytes. */
export const mostBytesOfSubjectToken = 16 * 1024;

/** Annotations of a tool may have this many bytes, as sent. */
export const mostBytesOfAnnotations = 4096;

/** Refuses a text that is too long, in UTF-16 code units. */
export function checkLength(field: string, text: string, most: number): void {
  if (text.length > most) throw invalid(field, `must be at most ${most} characters`);
}

/** How many bytes a text takes in UTF-8. A lone surrogate takes three, because encoders replace it. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isHigh(unit) && isLow(text.charCodeAt(at + 1))) {
      bytes += 4;
      at++;
    } else bytes += 3;
  }
  return bytes;
}

/** Whether a text takes at most this many bytes. The length alone settles most cases. */
export function fitsIn(text: string, bytes: number): boolean {
  if (text.length > bytes) return false;
  return text.length * 3 <= bytes || utf8Length(text) <= bytes;
}

/** The beginning of a text that is too long, with an ellipsis. It cuts no character in half. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = isHigh(text.charCodeAt(most - 2)) ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}

/**
 * A text from an earlier version, cut to today's limit. It copies the text: a substring would keep all of it in memory.
 */
export function keptText(text: string, most: number = longest.text): string {
  if (text.length <= most) return text;
  return JSON.parse(JSON.stringify(shortened(text, most))) as string;
}

/** A reason as an agent is told it. */
export function toldReason(reason: string): string {
  return shortened(reason, longest.toldReason);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** A record with its texts cut to today's limit. Earlier versions may have stored longer ones. */
export function withKeptTexts<Record extends object>(record: Record, members: readonly (keyof Record)[]): Record {
  let kept = record;
  for (const member of members) {
    const value = record[member];
    if (typeof value === 'string' && value.length > longest.text) kept = { ...kept, [member]: keptText(value) };
  }
  return kept;
}
