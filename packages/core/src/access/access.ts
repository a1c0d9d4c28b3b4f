import type { JournalOf } from '../journal/journal.ts';
import type { Ports } from '../kernel/ports.ts';
import type { AccessChange } from './access-slice.ts';
import type { EndedCredentials } from './ended-credentials.ts';
import type { KeyRing } from './key-ring.ts';
import type { SigningKeyRing } from './signing-key.ts';
import type { TokenMint } from './token.ts';

/** What the use cases about credentials work on. */
export interface Access extends Ports {
  readonly keys: KeyRing;
  readonly signingKeys: SigningKeyRing;
  readonly mint: TokenMint;
  readonly tokenTtlMs: number;
  readonly ended: EndedCredentials;
  readonly journal: JournalOf<AccessChange, never>;
}
