/** What is kept of a person's login at the authorization server of an MCP server. */
export interface KeptLogin {
  /** Who issued the tokens. They go nowhere else. */
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly authMethod: 'none' | 'client_secret_basic' | 'client_secret_post';
  /** What the tokens are for (RFC 8707), where the server has said so. */
  readonly resource: string | undefined;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** In milliseconds of the epoch. */
  readonly expiresAt: number | undefined;
  /** The scopes that were asked for, and those that the server has wanted since. */
  readonly scope: string | undefined;
  readonly wantedScope?: string | undefined;
}

/** Where the login of the person of this machine at one server is kept. */
export interface PersonStore {
  read(): Promise<KeptLogin | undefined>;
  /** Changes it while nobody else does. `change` returns what is kept from now on, or undefined to leave it. */
  change(change: (kept: KeptLogin | undefined) => Promise<KeptLogin | undefined>): Promise<void>;
}
