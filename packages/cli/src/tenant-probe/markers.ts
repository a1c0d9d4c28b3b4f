/** What must not reach a caller, by which an answer of the gateway gives another tenant away. */
export interface Foreign {
  /** Canary names that start with one of these. */
  readonly prefixes: readonly string[];
  /** Canary names that are these. */
  readonly exact: readonly string[];
  /** Ids and secrets that the gateway made, and that do not look like canaries. */
  readonly values: readonly string[];
}

const canaryName = /canary-[a-z0-9]+(?:-[a-z0-9]+)*/g;
const encoded = /[A-Za-z0-9_-]{12,}/g;

/**
 * The first thing in a text that the caller must not see. What the caller sent itself may come back: the refusal of a
 * request may repeat it. What is hidden in base64, as in a cursor or a token, counts as seen.
 */
export function foreignIn(text: string, foreign: Foreign, sent: readonly string[] = []): string | undefined {
  return namedIn(text, foreign, sent) ?? namedIn(decoded(text), foreign, sent);
}

/** The same, where what is encoded does not count. */
export function namedIn(text: string, foreign: Foreign, sent: readonly string[] = []): string | undefined {
  const lower = text.toLowerCase();
  const named = [...lower.matchAll(canaryName)].map(([name]) => name);
  const isForeign = (name: string) =>
    foreign.exact.includes(name) || foreign.prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix}-`));
  const mentioned = named.find((name) => isForeign(name) && !sent.includes(name));
  return mentioned ?? foreign.values.find((value) => lower.includes(value.toLowerCase()) && !sent.includes(value));
}

function decoded(text: string): string {
  return [...text.matchAll(encoded)].map(([part]) => Buffer.from(part, 'base64url').toString('latin1')).join('\n');
}
