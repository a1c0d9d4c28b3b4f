import type { KeyObject } from 'node:crypto';
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const issuer = 'https://id.example.com';
const kid = 'bench';

/** Makes an issuer of users, and a file that lets a gateway trust it. */
export function makeIssuer(folder: string): { readonly file: string; readonly privateKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const file = join(folder, 'subjects.yaml');
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' };
  writeFileSync(join(folder, 'subject-keys.json'), JSON.stringify({ keys: [jwk] }));
  writeFileSync(file, `- {issuer: "${issuer}", audience: reeve, jwks_file: subject-keys.json}\n`);
  return { file, privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
}

/** Signs tokens of users, each another one. */
export class SubjectTokens {
  readonly #key: KeyObject;
  readonly #header = Buffer.from(JSON.stringify({ alg: 'ES256', kid, typ: 'JWT' })).toString('base64url');
  #made = 0;

  constructor(privateKey: string) {
    this.#key = createPrivateKey(privateKey);
  }

  /** A token of a day, with what providers usually say of a person. */
  next(): string {
    const number = this.#made++;
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: 'reeve',
      sub: `00u${String(number % 1000).padStart(9, '0')}`,
      email: `person-${number % 1000}@example.com`,
      email_verified: true,
      name: 'A Person',
      groups: ['staff', 'engineering'],
      iat: now,
      exp: now + 86_400,
      jti: `${process.pid}-${number}`,
    };
    const signed = `${this.#header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
}
