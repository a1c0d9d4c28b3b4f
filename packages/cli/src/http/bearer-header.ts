import { CliError } from '../cli-error.ts';

/** The header for a credential, or none. The gateway decides whether none is enough. */
export function bearerHeader(credential: string | undefined): Readonly<Record<string, string>> {
  if (credential === undefined) return {};
  // A header cannot hold other characters. The message must not show them, because they belong to a credential.
  if (!/^[\x21-\x7e]+$/.test(credential)) {
    throw new CliError('the API key has characters that no API key has; was it copied whole?');
  }
  return { authorization: `Bearer ${credential}` };
}
