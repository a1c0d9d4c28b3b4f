/** A change of the stream that controls an agent. */
export type ConnectionEvent =
  /** The agent can be paused and terminated. `again`: after a loss. */
  | { readonly type: 'connected'; readonly again: boolean }
  /** The agent cannot be controlled for now. The SDK keeps trying, and controls arrive later. Told once per loss. */
  | { readonly type: 'lost'; readonly reason: string }
  /** The gateway has no live control. The agent goes on without it. */
  | { readonly type: 'unsupported'; readonly reason: string }
  /** The gateway no longer accepts the token. This is the last event. */
  | { readonly type: 'ended'; readonly reason: string };
