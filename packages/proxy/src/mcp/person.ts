import { statedClaims } from '../oauth/token-issuer.ts';

/** For whom a client acts, by tokens of this person. Nothing of it is ever passed on to a server. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** The access token that the client came with. */
  readonly token: string | undefined;
  /** The ID token that the client sent along, which names the same person. */
  readonly idToken: string | undefined;
  /** The token that checks name the user by. Undefined where the gateway does not know its issuer. */
  readonly subjectToken: string | undefined;
}

/**
 * The person whom tokens of this machine name. Nobody has verified them: who put them there acts as this person anyway,
 * and whoever takes them verifies them. What was asked for with one token is used with no other.
 */
export function statedPerson(token: string | undefined, idToken: string | undefined): Person | undefined {
  if (token === undefined && idToken === undefined) return undefined;
  const claims = statedClaims(idToken ?? token ?? '') ?? {};
  const [issuer, subject] = [claims['iss'], claims['sub']].map((claim) => (typeof claim === 'string' ? claim : ''));
  return { issuer: issuer ?? '', subject: subject ?? '', token, idToken, subjectToken: undefined };
}
