import type { Person } from '../person.ts';
import type { Challenge } from './challenge.ts';

/** Where the access tokens for one server come from. */
export interface ServerTokens {
  /** Why nobody can have a token for this caller, whatever is tried. Undefined if one can be asked for. */
  denial(person: Person | undefined): string | undefined;
  /** Throws `TokenFailure`. */
  find(person: Person | undefined): Promise<string>;
  /** The server does not take the token. Returns whether to try once more, with another one. */
  refused(person: Person | undefined, token: string, challenge: Challenge): Promise<boolean>;
  /** What the operator can do about a server that does not take the tokens. */
  readonly advice: string;
}

/** What one process uses to reach a server: tokens, and those of the person that it acts for. */
export interface ServerAccess {
  readonly tokens: ServerTokens | undefined;
  /** Asked for each message. */
  readonly person: () => Person | undefined;
}

/** The tokens for a server by its name. Undefined if it wants none. */
export type TokensOf = (server: string) => ServerTokens | undefined;
