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
