/** The limits of a part of the campaign, and its progress output. */
export interface Limits {
  /** All random draws follow from this number, so that they can be repeated. */
  readonly seed: number;
  /** When to stop starting work, by `performance.now()`. */
  readonly endsAt: number;
  /** The maximum number of rounds or inputs. */
  readonly most: number;
  readonly say: (line: string) => void;
}

/** The outcome of a part. */
export interface Outcome {
  /** The work done, in figures: `{ kills: 1000, decisions: 250_000 }`. */
  readonly counts: Readonly<Record<string, number>>;
  /** The violations, one line or more each. */
  readonly findings: readonly string[];
  /** What was skipped, and why. */
  readonly notRun: readonly string[];
}

/** A part of the campaign, and its share of the time. */
export interface Part {
  readonly name: string;
  /** The claim that it proves, for the table. */
  readonly holds: string;
  readonly share: number;
  /** The maximum for its long form. */
  readonly most: number;
  readonly run: (limits: Limits) => Promise<Outcome>;
}

export function isOver({ endsAt, most }: Limits, done: number): boolean {
  return done >= most || performance.now() >= endsAt;
}

/** For short forms: this many rounds, and a minute at most. */
export function briefly(seed: number, most: number): Limits {
  return { seed, most, endsAt: performance.now() + 60_000, say: () => undefined };
}

/** The unexpected failures in a gateway's log. */
export function unforeseenIn(stderr: string): string[] {
  const lines = stderr.split('\n').filter((line) => /a (?:call|request) failed unexpectedly/.test(line));
  return lines.length === 0
    ? []
    : [`the gateway met what nobody foresaw: ${lines.slice(0, 3).join('\n').slice(0, 4000)}`];
}
