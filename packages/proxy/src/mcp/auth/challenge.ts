import type { IncomingHttpHeaders } from 'node:http';

/** How a server says that it wants another token. */
export interface Challenge {
  readonly status: number;
  readonly error: string | undefined;
  /** The scopes that it wants. */
  readonly scope: string | undefined;
  readonly resourceMetadata: string | undefined;
}

const longest = 8192;

/** Reads the `Bearer` challenge of `WWW-Authenticate`. */
export function challengeOf(status: number, headers: IncomingHttpHeaders): Challenge {
  const text = headers['www-authenticate']?.slice(0, longest) ?? '';
  const bearer = /(?:^|[\s,])bearer\s+(.*)$/is.exec(text)?.[1] ?? '';
  const parameters = new Map<string, string>();
  // A parameter is a name with a quoted text or a token. Of several with the same name the first counts.
  for (const [, name = '', quoted, plain] of bearer.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const scope = parameters.get('scope');
  return {
    status,
    error: parameters.get('error'),
    scope: scope !== undefined && isScope(scope) ? scope : undefined,
    resourceMetadata: parameters.get('resource_metadata'),
  };
}

function isScope(text: string): boolean {
  return text.length <= 1024 && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text);
}
