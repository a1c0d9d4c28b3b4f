import type { Costs } from './govern/costs.ts';
import { freeOfCharge } from './govern/costs.ts';
import type { GovernedMethods } from './govern/governed-methods.ts';
import { toolsAlone } from './govern/governed-methods.ts';
import { HttpUpstream } from './transport/http-upstream.ts';
import type { HttpUpstreamOptions, ServerUrl } from './transport/server-url.ts';
import type { ServerCommand } from './transport/stdio-child.ts';
import { StdioUpstream } from './transport/stdio-upstream.ts';
import type { Upstream, UpstreamEvents } from './transport/upstream.ts';

/** How calls to a server are governed. */
interface Governed {
  /** What calls of its tools cost. */
  readonly costs: Costs;
  /** What is a check besides calls of tools. */
  readonly methods: GovernedMethods;
  /** Whether the run is the session, whatever the client says. */
  readonly hasFixedRun: boolean;
}

/** Calls of tools are checks, and cost nothing. */
export const toolsGoverned: Governed = { costs: freeOfCharge, methods: toolsAlone, hasFixedRun: false };

/** A server behind the proxy. */
export type ServerSpec = (ServerCommand | ServerUrl) & Governed;

export function isCommand(spec: ServerSpec): spec is ServerCommand & Governed {
  return 'command' in spec;
}

export interface ConnectOptions extends HttpUpstreamOptions {
  readonly warn: (line: string) => void;
}

/** A connection to the server for one session. */
export function connectTo(spec: ServerSpec, events: UpstreamEvents, { warn, ...options }: ConnectOptions): Upstream {
  if (isCommand(spec)) return new StdioUpstream(spec, events, () => warn(noise));
  return new HttpUpstream(spec, events, options);
}

export const noise = 'the MCP server writes to its standard output what is no message; it is left out';
