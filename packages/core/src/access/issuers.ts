import type { EpochMs } from '../kernel/index.ts';

/** An issuer of JWTs that is trusted, and where its keys are. */
export interface IssuerSettings {
  /** The `iss` of its tokens, to the letter. */
  readonly issuer: string;
  /** A token is for one of these, at least. */
  readonly audiences: readonly string[];
  readonly jwksUri?: string;
  readonly jwksFile?: string;
}

/** `why` completes a sentence that begins with the token. It holds nothing of the token. */
export type TokenCheck =
  | {
      readonly ok: true;
      readonly claims: Readonly<Record<string, unknown>>;
      /** The `exp` of the token, without leeway. */
      readonly expiresAt: EpochMs;
    }
  | {
      readonly ok: false;
      readonly why: string;
      /** It names another issuer, so this one has nothing to say about it. */
      readonly isForeign?: true;
    };

export interface TokenVerifier {
  /**
   * Answers at once for a token that was verified before (kept by digest, bounded) or that is refused without its keys.
   * Else it promises an answer, which takes 2 s at most. It never throws.
   */
  verify(token: string, leewaySecs: number): TokenCheck | Promise<TokenCheck>;
}

/** An entry of a file of issuers, and what verifies its tokens. */
export interface TrustedIssuer<Settings extends IssuerSettings> {
  readonly settings: Settings;
  readonly verifier: TokenVerifier;
}

/** The issuers of a file, in its order. When the file changes, the list is replaced whole. */
export interface Issuers<Settings extends IssuerSettings> {
  readonly trusted: readonly TrustedIssuer<Settings>[];
}

/** For whom agents act: where the members of a user stand among the claims. */
export interface SubjectIssuer extends IssuerSettings {
  readonly claims: { readonly email: string; readonly groups: string };
}

/** The longest JWT that is looked at, in characters. */
export const longestJwt = 16 * 1024;

/** What the first entry says that verifies a token and has a use for its claims. */
export type Proven<Proof> =
  | { readonly ok: true; readonly proof: Proof; readonly expiresAt: EpochMs }
  | { readonly ok: false; readonly why: string };

const noIssuer = 'is of no configured issuer';

/**
 * The first entry counts whose verifier accepts the token and of whose claims `read` makes something. All are asked at
 * once, so that several slow issuers take no longer than one. Nobody waits for an entry after the one that counts.
 */
export function proveBy<Settings extends IssuerSettings, Proof>(
  { trusted }: Issuers<Settings>,
  token: string,
  leewaySecs: number,
  read: (settings: Settings, claims: Readonly<Record<string, unknown>>) => Proof | undefined,
): Proven<Proof> | Promise<Proven<Proof>> {
  const asked = trusted.map(({ settings, verifier }) => ({ settings, check: verifier.verify(token, leewaySecs) }));
  const from = (index: number, why: string): Proven<Proof> | Promise<Proven<Proof>> => {
    const entry = asked[index];
    if (entry === undefined) return { ok: false, why };
    const judge = (check: TokenCheck): Proven<Proof> | Promise<Proven<Proof>> => {
      if (!check.ok) return from(index + 1, why === noIssuer && check.isForeign !== true ? check.why : why);
      const proof = read(entry.settings, check.claims);
      return proof === undefined
        ? from(index + 1, 'matches no entry')
        : { ok: true, proof, expiresAt: check.expiresAt };
    };
    return entry.check instanceof Promise ? entry.check.then(judge) : judge(entry.check);
  };
  return from(0, noIssuer);
}
