/** A tool whose definition is not the one that was locked, by the SHA-256 of both. */
export interface ChangedTool {
  readonly tool: string;
  /** Left out if the lock does not hold the tool. */
  readonly locked?: string | undefined;
  /** Left out if the server no longer has the tool. */
  readonly actual?: string | undefined;
}

/** @internal */
export function wireChangeOf({ tool, locked = '', actual = '' }: ChangedTool) {
  return { toolName: tool, lockedSha256: locked, actualSha256: actual };
}
