import { sha256 } from '../random.ts';

export const noHash = '0'.repeat(64);

/** A link of a chain: it names the hash of the one before it, and its own. */
export type Sealed<Made> = Made & { readonly previous: string; readonly hash: string };

export function sealed<Made extends object>(made: Made, previous: string): Sealed<Made> {
  return { ...made, previous, hash: hashOf(made, previous) };
}

export function isSealed({ previous, hash, ...made }: Sealed<object>): boolean {
  return hash === hashOf(made, previous);
}

function hashOf(made: object, previous: string): string {
  return sha256(`${previous} ${JSON.stringify(made)}`);
}
