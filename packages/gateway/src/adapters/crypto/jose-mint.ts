import type { SigningKeyRecord, TokenClaims, TokenMint } from '@reeve/core';
import { roles, scopes } from '@reeve/core';
import type { JWK, JWTPayload } from 'jose';
import {
  calculateJwkThumbprint,
  CompactSign,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
} from 'jose';

const algorithm = 'EdDSA';
const issuer = 'reeve';
const audience = 'reeve';

type CryptoKeyOrBytes = Awaited<ReturnType<typeof importJWK>>;

/** JWTs signed with Ed25519, and no other algorithm. */
export class JoseMint implements TokenMint {
  readonly #imported = new Map<string, Promise<CryptoKeyOrBytes>>();

  async makeKey(now: number): Promise<SigningKeyRecord> {
    const { privateKey, publicKey } = await generateKeyPair(algorithm, { crv: 'Ed25519', extractable: true });
    const publicJwk = await exportJWK(publicKey);
    const kid = await calculateJwkThumbprint(publicJwk);
    return {
      kid,
      privateJwk: JSON.stringify(await exportJWK(privateKey)),
      publicJwk: JSON.stringify({ ...publicJwk, kid, alg: algorithm, use: 'sig' }),
      createdAt: now,
    };
  }

  async sign(claims: TokenClaims, key: SigningKeyRecord): Promise<string> {
    const binding = {
      ...(claims.orgId === null ? {} : { org_id: claims.orgId }),
      ...(claims.teamId === null ? {} : { team_id: claims.teamId }),
    };
    const login = claims.kind === 'account' ? { sid: claims.sessionId, role: claims.role } : {};
    return new SignJWT({ scope: [...claims.scopes], kind: claims.kind, ...binding, ...login })
      .setProtectedHeader({ alg: algorithm, kid: key.kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(claims.sub)
      .setJti(claims.tokenId)
      .setIssuedAt(Math.floor(claims.issuedAt / 1000))
      .setExpirationTime(Math.floor(claims.expiresAt / 1000))
      .sign(await this.#import(`${key.kid} private`, key.privateJwk));
  }

  async signText(text: string, key: SigningKeyRecord): Promise<string> {
    return new CompactSign(new TextEncoder().encode(text))
      .setProtectedHeader({ alg: algorithm, kid: key.kid })
      .sign(await this.#import(`${key.kid} private`, key.privateJwk));
  }

  async verify(token: string, find: (kid: string) => SigningKeyRecord | undefined): Promise<TokenClaims | undefined> {
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      const key = alg === algorithm && kid !== undefined ? find(kid) : undefined;
      if (key === undefined) return undefined;
      const verifyKey = await this.#import(`${key.kid} public`, key.publicJwk);
      const { payload } = await jwtVerify(token, verifyKey, { algorithms: [algorithm], issuer, audience });
      return claimsOf(payload);
    } catch {
      return undefined;
    }
  }

  #import(name: string, jwk: string): Promise<CryptoKeyOrBytes> {
    const known = this.#imported.get(name);
    if (known !== undefined) return known;
    const imported = importJWK(JSON.parse(jwk) as JWK, algorithm);
    this.#imported.set(name, imported);
    return imported;
  }
}

function claimsOf(payload: JWTPayload): TokenClaims | undefined {
  const { sub, jti, iat, exp } = payload;
  const granted = payload['scope'];
  if (sub === undefined || jti === undefined || iat === undefined || exp === undefined) return undefined;
  if (!Array.isArray(granted)) return undefined;
  const common = {
    sub,
    scopes: scopes.filter((scope) => granted.includes(scope)),
    orgId: textOrNull(payload['org_id']),
    teamId: textOrNull(payload['team_id']),
    issuedAt: iat * 1000,
    expiresAt: exp * 1000,
    tokenId: jti,
  };
  if (payload['kind'] === 'api_key') return { ...common, kind: 'api_key' };
  const sessionId = payload['sid'];
  const role = roles.find((known) => known === payload['role']);
  if (payload['kind'] !== 'account' || typeof sessionId !== 'string' || role === undefined) return undefined;
  return { ...common, kind: 'account', sessionId, role };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
