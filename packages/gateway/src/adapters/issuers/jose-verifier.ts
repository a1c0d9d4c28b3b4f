import { compactVerify, errors } from 'jose';
import type { Clock, IssuerSettings, Sha256, TokenCheck, TokenVerifier } from '@reeve/core';
import { longestJwt } from '@reeve/core';
import type { DecodedJwt } from './decode-jwt.ts';
import { decodeJwt } from './decode-jwt.ts';
import type { HeldSet, KeyPlace } from './key-place.ts';

/** Signatures by a private key alone: whoever can verify cannot sign. */
const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];

/** What a token that proves who somebody is may call itself. Others, such as those of a logout, are for something else. */
const types: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'jose']);

/** The latest time that a date can say, in seconds. */
const latest = 8.64e12;

interface VerifierPorts {
  readonly clock: Clock;
  readonly sha256: Sha256;
}

/** How far the clock of an issuer may be ahead. Only the end of a token may have to be exact. */
const clocksDifferSecs = 60;

/** Verifies the tokens of one issuer for some audiences. */
export class JoseVerifier implements TokenVerifier {
  readonly #settings: IssuerSettings;
  readonly #keys: KeyPlace;
  readonly #ports: VerifierPorts;

  constructor(settings: IssuerSettings, keys: KeyPlace, ports: VerifierPorts) {
    this.#settings = settings;
    this.#keys = keys;
    this.#ports = ports;
  }

  verify(token: string, leewaySecs: number): TokenCheck | Promise<TokenCheck> {
    if (token.length > longestJwt) return refused('is longer than 16 KiB');
    const digest = digestOf(token, this.#ports.sha256);
    const verified = this.#keys.held?.verified.get(digest);
    const decoded = verified ?? decodeJwt(token);
    if (decoded === undefined) return refused('is not a JWT');
    const check = this.#judge(decoded, leewaySecs);
    if (!check.ok || verified !== undefined) return check;
    return this.#signed(token, digest, decoded).then((why) => {
      // Time has passed meanwhile.
      return why === undefined ? this.#judge(decoded, leewaySecs) : refused(why);
    });
  }

  /** What can be said without keys. */
  #judge({ alg, typ, claims }: DecodedJwt, leewaySecs: number): TokenCheck {
    const { iss, aud, exp, nbf } = claims;
    if (iss !== this.#settings.issuer) return { ...refused('is of another issuer'), isForeign: true };
    if (!algorithms.includes(alg)) return refused(`is not signed with one of ${algorithms.join(', ')}`);
    if (typ !== undefined && !types.has(typ)) return refused('is of another type (typ)');
    const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
    if (!this.#settings.audiences.some((audience) => audiences.includes(audience))) {
      return refused('is for another audience');
    }
    if (!isTime(exp)) return refused('does not say when it expires (exp)');
    if (nbf !== undefined && !isTime(nbf)) return refused('does not say from when it holds (nbf)');
    const now = this.#ports.clock.now();
    if (now >= (exp + leewaySecs) * 1000) return refused('has expired');
    if (nbf !== undefined && now < (nbf - clocksDifferSecs) * 1000) return refused('is not valid yet');
    return { ok: true, claims, expiresAt: Math.floor(exp * 1000) };
  }

  /** Why its signature does not count, if so. */
  async #signed(token: string, digest: string, decoded: DecodedJwt): Promise<string | undefined> {
    const set = await this.#keys.setWith(decoded.kid);
    if (set === undefined) return 'cannot be verified: the keys of its issuer cannot be had';
    const known = set.refused.get(digest);
    if (known !== undefined) return known;
    const underWay = set.underWay.get(digest) ?? verifyWith(set, token, digest, decoded);
    set.underWay.set(digest, underWay);
    return underWay;
  }
}

let last = { token: '', digest: '' };

/** The verifiers of all entries look at the same token in turn, so it is hashed once. */
function digestOf(token: string, sha256: Sha256): string {
  if (last.token !== token) last = { token, digest: sha256(token) };
  return last.digest;
}

/** Verifies a signature with a set of keys, and remembers what came out. */
async function verifyWith(
  set: HeldSet,
  token: string,
  digest: string,
  decoded: DecodedJwt,
): Promise<string | undefined> {
  try {
    await compactVerify(token, set.find, { algorithms });
    set.verified.set(digest, decoded);
    return undefined;
  } catch (error) {
    const why = whyNot(error);
    set.refused.set(digest, why);
    return why;
  } finally {
    set.underWay.delete(digest);
  }
}

function refused(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= latest;
}

function whyNot(error: unknown): string {
  if (error instanceof errors.JWKSNoMatchingKey) return 'is signed with a key that its issuer does not publish';
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'does not say with which key it is signed (kid)';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'has a wrong signature';
  return 'cannot be verified: it or its key is malformed';
}
