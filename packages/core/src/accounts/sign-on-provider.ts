import type { OidcPerson } from './log-in-with-oidc.ts';

/** The secrets of one sign-on. The browser holds them, sealed, while the person is at the provider. */
export interface SignOnSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Proves to the provider that whoever began also ends it (PKCE). */
  readonly verifier: string;
}

/** What the provider sends back with the browser. */
export interface SignOnAnswer {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
}

/** The provider of a single sign-on. Its failures are `sign_on_unavailable`, `sign_on_failed` and `overloaded`. */
export interface SignOnProvider {
  /** Where the person proves who they are. */
  startUrl(secrets: SignOnSecrets, redirectUri: string): Promise<string>;
  /** The person whom the provider vouches for. */
  personBehind(answer: SignOnAnswer, secrets: SignOnSecrets, redirectUri: string): Promise<OidcPerson>;
  /** Where the person ends the session at the provider. Undefined if the provider has no such place, or is away. */
  endUrl(returnTo: string): Promise<string | undefined>;
}
