/** What happens to the stream by which an agent is controlled. */
export type ConnectionEvent =
  /** The agent can be paused and terminated. `again`: after a loss. */
  | { readonly type: 'connected'; readonly again: boolean }
  /** It cannot, for now. The SDK goes on trying; what is asked meanwhile arrives later. Told once per loss. */
  | { readonly type: 'lost'; readonly reason: string }
  /** The gateway has no live control. The agent goes on without. */
  | { readonly type: 'unsupported'; readonly reason: string }
  /** The token is not accepted any more: this was the last event. */
  | { readonly type: 'ended'; readonly reason: string };
