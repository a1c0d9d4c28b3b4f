import { parseUrl } from '../kernel/index.ts';

/** `file:`, even with what the URL standard removes: blanks before it, tabs and line breaks within. */
const fileUrl = /^[\0- ]*f[\t\r\n]*i[\t\r\n]*l[\t\r\n]*e[\t\r\n]*:/i;

/**
 * A path in the compared form: taken out of a `file:` URL if it is one, and resolved. Undefined if it cannot be read.
 */
export function readPath(path: string): string | undefined {
  return fileUrl.test(path) ? pathOfUrl(path) : resolvePath(path);
}

/** Only for this machine: the URL has no host, or `localhost`, which the standard drops. */
function pathOfUrl(url: string): string | undefined {
  const parsed = parseUrl(url);
  if (parsed === undefined || parsed.hostname !== '') return undefined;
  try {
    const path = resolvePath(decodeURIComponent(parsed.pathname));
    return /^\/[a-z]:(?:\/|$)/i.test(path) ? path.slice(1) : path;
  } catch {
    return undefined;
  }
}

/** A path with `.`, `..`, repeated and trailing slashes resolved, so that `/data/../etc` is matched as `/etc`. */
export function resolvePath(path: string): string {
  if (!/\/\/|(?:^|\/)\.{1,2}(?:\/|$)|.\/$/.test(path)) return path;
  const absolute = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!absolute) parts.push('..');
  }
  const joined = parts.join('/');
  if (absolute) return `/${joined}`;
  return joined === '' ? '.' : joined;
}
