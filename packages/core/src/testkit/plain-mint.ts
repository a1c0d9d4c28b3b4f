import { hash } from 'node:crypto';
import type { SigningKeyRecord, TokenClaims, TokenMint } from '../access/signing-key.ts';

/** Tokens that anybody can read and only the key's holder can make: enough for tests of what tokens allow. */
export function plainMint(): TokenMint {
  let made = 0;
  const sealOf = (text: string, key: SigningKeyRecord) => hash('sha256', `${key.privateJwk}/${text}`, 'hex');
  return {
    makeKey: (now) => {
      const kid = `kid-${++made}`;
      return Promise.resolve({ kid, privateJwk: `private-${kid}`, publicJwk: `public-${kid}`, createdAt: now });
    },
    sign: (claims, key) => {
      const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return Promise.resolve(`${key.kid}.${text}.${sealOf(text, key)}`);
    },
    signText: (text, key) => Promise.resolve(`${text}.${sealOf(text, key)}`),
    verify: (token, find) => {
      const [kid = '', text = '', seal = ''] = token.split('.');
      const key = find(kid);
      const good = key !== undefined && seal === sealOf(text, key);
      return Promise.resolve(good ? (JSON.parse(Buffer.from(text, 'base64url').toString()) as TokenClaims) : undefined);
    },
  };
}
