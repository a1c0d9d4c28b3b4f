/** That rules have rewritten the arguments of an operation. */
export interface OpRewrite {
  /** Digest of the action as it was rewritten. */
  readonly digest: string;
  /** What was changed, as JSON. Null if that is secret or long: then it is known where it was decided only. */
  readonly changes: string | null;
}

/** What an approval is bound to: the digest of the action as it is to run. */
export function boundDigest({
  digest,
  rewrite,
}: {
  readonly digest: string;
  readonly rewrite: OpRewrite | null;
}): string {
  return rewrite?.digest ?? digest;
}
