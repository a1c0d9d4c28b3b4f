/** The target after the sign-in: a path of this dashboard, or its start. Anything else could lead people astray. */
export function nextPath(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || next.startsWith('//')) return '/';
  const base = 'http://dashboard.invalid';
  try {
    const url = new URL(next, base);
    const isOwn = url.origin === base && !next.includes('\\');
    const isOutside = ['/sign-in', '/invite', '/reset', '/forgot'].includes(url.pathname);
    // Dots are resolved by now, and may have left two slashes.
    const isPath = isOwn && !url.pathname.startsWith('//');
    return isPath && !isOutside ? `${url.pathname}${url.search}${url.hash}` : '/';
  } catch {
    return '/';
  }
}
