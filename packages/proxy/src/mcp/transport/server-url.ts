import type { ServerAuth } from '../auth/server-auth.ts';
import type { ServerTokens } from '../auth/server-tokens.ts';
import type { UpstreamSession } from './upstream.ts';

/** Where a server is that speaks Streamable HTTP. */
export interface ServerUrl {
  readonly url: URL;
  /** May hold credentials of the server. */
  readonly headers: Readonly<Record<string, string>>;
  /** How to get the access tokens that it wants. */
  readonly auth?: ServerAuth | undefined;
}

export interface HttpUpstreamOptions {
  /** Whether the client in front cannot open event streams by itself. */
  readonly opensStreams: boolean;
  readonly tokens: ServerTokens | undefined;
  /** The session that another process has begun. */
  readonly resumed?: UpstreamSession | undefined;
}
