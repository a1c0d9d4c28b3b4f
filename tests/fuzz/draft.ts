/** A request in parts, so that a mutation can change any of them. */
export interface Draft {
  method: string;
  /** The path with its parameters filled in and encoded. */
  path: string;
  readonly parameters: Record<string, string>;
  /** Encoded. */
  query: (readonly [string, string])[];
  headers: (readonly [string, string])[];
  body: unknown;
  /** Sent instead of the JSON body. */
  raw: Buffer | undefined;
}
