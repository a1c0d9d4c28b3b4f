/** A label that is given if nobody asks about the result: to the run, or to the agent. */
export interface UnjudgedLabel {
  readonly name: string;
  readonly of: 'run' | 'agent';
  readonly policyRule: string;
}

/** Rules on results could match what an operation brings back: somebody is to ask about it. */
export interface ResultDuty {
  /** Whether somebody has asked. */
  readonly judged: boolean;
  /** What counts if nobody does: the labels of all rules on results that fit the call. */
  readonly unjudged: readonly UnjudgedLabel[];
}
