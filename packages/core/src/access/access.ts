import type { Governance } from '../governance.ts';
import type { EndedCredentials } from './ended-credentials.ts';
import type { KeyRing } from './key-ring.ts';
import type { SigningKeyRing } from './signing-key.ts';
import type { TokenMint } from './token.ts';

/** What the use cases about credentials work on. */
export interface Access {
  readonly gov: Governance;
  readonly keys: KeyRing;
  readonly signingKeys: SigningKeyRing;
  readonly mint: TokenMint;
  readonly tokenTtlMs: number;
  readonly ended: EndedCredentials;
}
