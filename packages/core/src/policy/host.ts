import { parseUrl } from '../kernel/index.ts';

/** The text may name a host, but nobody can say which. */
export const unclear = Symbol('unclear');

/** A host in the one form of all its spellings; null if there is none. */
export type ReadHost = string | null | typeof unclear;

/** Needs no reading: plain labels, the last one no number, or an address of four numbers. */
const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const plainText = `(?:[a-z0-9_-]+\\.)*[a-z][a-z0-9_-]*|(?:${byte}\\.){3}${byte}`;
const plain = new RegExp(`^(?:${plainText})$`);
const plainUrl = new RegExp(`^https?://(${plainText})(?::\\d{1,4})?(?=[/?#]|$)`);

/** No name is longer. Reading names in other scripts takes quadratic time, and the agent chooses them. */
const longestAuthority = 512;

/** A host already in the compared form, as nearly all are. Undefined if it must be read. */
export function plainHost(host: string): string | undefined {
  return host === '' || plain.test(host) ? host : undefined;
}

/** The same for a URL. */
export function plainHostOf(url: string): string | undefined {
  return plainUrl.exec(url)?.[1];
}

/** Any number of slashes, even none, precedes the host. */
const special = /^(?:https?|wss?|ftp):[/\\]*/i;
const hierarchical = /^([a-z][a-z0-9+.-]*):([/\\]{2})/i;
const relative = /^(?:[/\\?#]|\.{1,2}(?:[/\\]|$)|[a-z]:[/\\])/i;
const hostless = /^(?:about|data|file|javascript|mailto|sip|tel|urn):/i;
const bareAddress = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i;

/** The host of a URL, or of a text used as one, as a browser reads it, so that no spelling gets round a rule. */
export function readHost(text: string): ReadHost {
  const written = tidied(text);
  if (written === '') return null;
  const scheme = special.exec(written)?.[0];
  if (scheme !== undefined) return canonicalHost(upToPath(written.slice(scheme.length))) ?? unclear;
  const other = hierarchical.exec(written);
  if (other !== null) return hostBehind(other[1] ?? '', other[2] ?? '', written.slice(other[0].length));
  if (/^[/\\]{2}/.test(written)) return canonicalHost(upToPath(written.replace(/^[/\\]+/, ''))) ?? unclear;
  if (relative.test(written) || hostless.test(written)) return null;
  return canonicalHost(bareAddress.test(written) ? `[${written}]` : upToPath(written)) ?? unclear;
}

/** The host of a URL with another scheme, for which clients have their own rules. A backslash is unclear. */
function hostBehind(scheme: string, slashes: string, rest: string): ReadHost {
  const authority = rest.split(/[/?#]/, 1)[0] ?? '';
  if (slashes !== '//' || authority.includes('\\')) return unclear;
  if (authority === '') return null;
  if (scheme.toLowerCase() === 'file' && /^(?:localhost|[a-z][:|])$/i.test(authority)) return null;
  return canonicalHost(authority) ?? unclear;
}

/** Cleans a text as the URL standard does: no blanks or control characters at the ends, no tabs or line breaks. */
function tidied(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return text.slice(start, end).replace(/[\t\r\n]/g, '');
}

function upToPath(text: string): string {
  return text.split(/[/\\?#]/, 1)[0] ?? '';
}

/**
 * One form for all spellings of a host: numbers in any base as IPv4, IPv6 shortened, IPv4 taken out of IPv6, other
 * scripts as ASCII, no dot at the end. Undefined if the URL standard knows no such host.
 */
export function canonicalHost(authority: string): string | undefined {
  if (authority === '' || authority.length > longestAuthority || /[/\\?#]/.test(authority)) return undefined;
  const host = parseUrl(`http://${authority}/`)?.hostname;
  if (host === undefined) return undefined;
  if (host.startsWith('[')) return withoutWrap(host.slice(1, -1));
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** `::ffff:a9fe:a9fe` is 169.254.169.254. */
function withoutWrap(address: string): string {
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return address;
  const pair = (hex = '') => [Number.parseInt(hex, 16) >> 8, Number.parseInt(hex, 16) & 255];
  return [...pair(mapped[1]), ...pair(mapped[2])].join('.');
}
