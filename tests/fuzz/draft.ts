/** A request as a draft: still in parts, so that a mutation can change any of them. */
export interface Draft {
  method: string;
  /** The path with its parameters filled in and encoded. */
  path: string;
  readonly parameters: Record<string, string>;
  /** Encoded. */
  query: (readonly [string, string])[];
  headers: (readonly [string, string])[];
  body: unknown;
  /** What is sent instead of the body as JSON. */
  raw: Buffer | undefined;
}
