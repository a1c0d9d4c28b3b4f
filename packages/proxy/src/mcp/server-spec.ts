import type { ServerTokens } from './auth/server-tokens.ts';
import type { Costs } from './govern/costs.ts';
import type { ServerUrl } from './transport/http-upstream.ts';
import { HttpUpstream } from './transport/http-upstream.ts';
import type { ServerCommand } from './transport/stdio-child.ts';
import { StdioUpstream } from './transport/stdio-upstream.ts';
import type { Upstream, UpstreamEvents } from './transport/upstream.ts';

/** A server behind the proxy, and what calls of its tools cost. */
export type ServerSpec = (ServerCommand | ServerUrl) & { readonly costs: Costs };

export function isCommand(spec: ServerSpec): spec is ServerCommand & { readonly costs: Costs } {
  return 'command' in spec;
}

export interface ConnectOptions {
  /** Whether the client in front cannot open event streams by itself. */
  readonly opensStreams: boolean;
  readonly warn: (line: string) => void;
  readonly tokens: ServerTokens | undefined;
}

/** A connection to the server for one session. */
export function connectTo(
  spec: ServerSpec,
  events: UpstreamEvents,
  { opensStreams, warn, tokens }: ConnectOptions,
): Upstream {
  if (isCommand(spec)) return new StdioUpstream(spec, events, () => warn(noise));
  return new HttpUpstream(spec, events, opensStreams, tokens);
}

export const noise = 'the MCP server writes to its standard output what is no message; it is left out';
