import { CliError } from '../cli-error.ts';

/** The header for a credential; none without one: whether that is enough is for the gateway to say. */
export function bearerHeader(credential: string | undefined): Readonly<Record<string, string>> {
  if (credential === undefined) return {};
  // Other characters cannot stand in a header; the message must not show them, as they are a credential's.
  if (!/^[\x21-\x7e]+$/.test(credential)) {
    throw new CliError('the API key has characters that no API key has; was it copied whole?');
  }
  return { authorization: `Bearer ${credential}` };
}
