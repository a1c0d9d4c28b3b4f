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
  // Of several with the same name the first counts.
  for (const [name, value] of parametersIn(bearer)) if (!parameters.has(name)) parameters.set(name, value);
  const scope = parameters.get('scope');
  return {
    status,
    error: parameters.get('error'),
    scope: scope !== undefined && isScope(scope) ? scope : undefined,
    resourceMetadata: parameters.get('resource_metadata'),
  };
}

/** A parameter is a name with a quoted text or a token. They stand one after the other, with commas between. */
function* parametersIn(text: string): Generator<readonly [name: string, value: string]> {
  const next = /[\s,]*([\w-]+)\s?=\s?(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/y;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    const [, name = '', quoted, plain = ''] = found;
    yield [name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? plain];
  }
}

function isScope(text: string): boolean {
  return text.length <= 1024 && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text);
}
