/** A change of the stream that controls an agent. `address` is that of the gateway at its other end. */
export type ConnectionEvent =
  /** The agent can be paused and terminated. `again`: after a loss, or from another gateway than before. */
  | { readonly type: 'connected'; readonly address: string; readonly again: boolean }
  /** The agent cannot be controlled for now. The SDK keeps trying, and controls arrive later. Told once per loss. */
  | { readonly type: 'lost'; readonly address: string; readonly reason: string }
  /** The gateway has no live control. The agent goes on without it. */
  | { readonly type: 'unsupported'; readonly address: string; readonly reason: string }
  /** The gateway no longer accepts the token. This is the last event. */
  | { readonly type: 'ended'; readonly address: string; readonly reason: string };
