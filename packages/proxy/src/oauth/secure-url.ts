import { isOwnMachine, isSecureUrl } from '@reeve/contract/host-name';

/** The address in a text, if tokens may go there. Without user and fragment, which no endpoint of OAuth has. */
export function secureUrlIn(text: unknown): URL | undefined {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  return isSecureUrl(url) ? url : undefined;
}

/**
 * The address that somebody else's document names. A server elsewhere must not have this machine call itself, where
 * other programs listen that trust whoever reaches them.
 */
export function namedUrl(text: unknown, namedBy: URL): URL | undefined {
  const url = secureUrlIn(text);
  if (url === undefined || (isOwnMachine(url) && !isOwnMachine(namedBy))) return undefined;
  return url;
}
