/** What one trial of one part of `deploy/` showed. */
export interface DeployResult {
  readonly part: string;
  readonly name: string;
  readonly failure: string | undefined;
}

/** What a part needs: how to say what it does, which trials it makes, and what it could not try. */
export interface Trials {
  readonly say: (line: string) => void;
  /** Runs a trial. It has failed if `work` throws. The rest of the part goes on. */
  readonly trial: (name: string, work: () => void | Promise<void>) => Promise<void>;
  readonly uses: (tool: string, version: string) => void;
  readonly missing: (what: string) => void;
}
