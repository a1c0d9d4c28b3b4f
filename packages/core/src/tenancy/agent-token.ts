import { checkLength, invalid, longest, ReeveError } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import type { Tenancy } from './tenancy.ts';

const shortestToken = 32;

/** A token that the gateway issues. */
export function newToken({ randomness }: Pick<Tenancy, 'randomness'>): string {
  return `rva_${randomness.base64url(32)}`;
}

/** Checks the form of a token that a caller chose. Empty: the caller leaves it to the gateway. */
export function checkToken(field: string, token: string): void {
  if (token !== '' && token.length < shortestToken) {
    throw invalid(field, `must be at least ${shortestToken} characters, or empty to be issued one`);
  }
  checkLength(field, token, longest.credentialToken);
}

/** The hash of a token that nobody has but the agent that is to have it. */
export function freeTokenHash(
  { directory, sha256 }: Pick<Tenancy, 'directory' | 'sha256'>,
  token: string,
  agent: Agent | undefined,
  field: string,
): string {
  const hash = sha256(token);
  const owner = directory.ownerOf(hash);
  if (owner === undefined || owner === agent) return hash;
  throw new ReeveError('token_in_use', `${field}: is in use by another agent; leave it empty to be issued one`);
}
