/** What must not reach a caller, because it would reveal another tenant. */
export interface Foreign {
  /** Prefixes of canary names. */
  readonly prefixes: readonly string[];
  /** Exact canary names. */
  readonly exact: readonly string[];
  /** Ids and secrets from the gateway that do not look like canaries. */
  readonly values: readonly string[];
}

const canaryName = /canary-[a-z0-9-]+/g;
const encoded = /[A-Za-z0-9_-]{12,}/g;

/**
 * The first thing in a text that the caller must not see. Names that the caller sent may come back, because a refusal
 * may repeat them. Text inside base64, as in a cursor or a token, counts as seen.
 */
export function foreignIn(text: string, foreign: Foreign, sent: readonly string[] = []): string | undefined {
  return namedIn(text, foreign, sent) ?? namedIn(decoded(text), foreign, sent);
}

/** The same, but without decoding. */
export function namedIn(text: string, foreign: Foreign, sent: readonly string[] = []): string | undefined {
  const lower = text.toLowerCase();
  const named = [...lower.matchAll(canaryName)].map(([name]) => name.replace(/(?<!-)-+$/, ''));
  const isForeign = (name: string) =>
    foreign.exact.includes(name) || foreign.prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix}-`));
  const mentioned = named.find((name) => isForeign(name) && !sent.includes(name));
  return mentioned ?? foreign.values.find((value) => lower.includes(value.toLowerCase()) && !sent.includes(value));
}

function decoded(text: string): string {
  return [...text.matchAll(encoded)].map(([part]) => Buffer.from(part, 'base64url').toString('latin1')).join('\n');
}
