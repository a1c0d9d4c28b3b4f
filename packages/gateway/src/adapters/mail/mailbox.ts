import { domainToASCII } from 'node:url';

export interface Mailbox {
  /** Empty if there is none. */
  readonly name: string;
  readonly address: string;
}

/** Reads `ada@example.com`, `Ada Lovelace <ada@example.com>` or `"Lovelace, Ada" <ada@example.com>`. */
export function parseMailbox(text: string): Mailbox | undefined {
  const angled = /^([^<>]*)<([^<>]*)>$/.exec(text.trim());
  const address = parseAddress(angled?.[2] ?? text.trim());
  const name = parseName(angled?.[1] ?? '');
  return address === undefined || name === undefined ? undefined : { name, address };
}

function parseName(text: string): string | undefined {
  const quoted = /^"(.*)"$/s.exec(text.trim())?.[1];
  const name = quoted === undefined ? text.trim() : quoted.replace(/\\(.)/gs, '$1');
  if (hasControls(name)) return undefined;
  return quoted === undefined && name.includes('"') ? undefined : name;
}

/**
 * One plain address, safe for an envelope: no quotes, no comments, nothing that could end the line or the command. A
 * domain beyond ASCII is returned in the form that every relay takes.
 */
export function parseAddress(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (!/^[^\p{Cc}\p{Cs}\p{Z}"(),:;<>@[\\\]]+$/u.test(local)) return undefined;
  const domain = asciiDomain(text.slice(at + 1));
  return domain === undefined ? undefined : `${local}@${domain}`;
}

function asciiDomain(text: string): string | undefined {
  if (/^\[[\da-f.:]+\]$|^\[IPv6:[\da-f.:]+\]$/i.test(text)) return text;
  // Check before the conversion, which decodes percent signs and more and so could name another domain.
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(text)) return undefined;
  const ascii = /^[\x20-\x7e]*$/.test(text) ? text : domainToASCII(text);
  return /^[a-z\d-]+(\.[a-z\d-]+)*$/i.test(ascii) ? ascii : undefined;
}

/** The form in a header. */
export function formatMailbox({ name, address }: Mailbox): string {
  return name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}

export function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}
