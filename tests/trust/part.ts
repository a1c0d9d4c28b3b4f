/** How much a part of the campaign may do, and where it tells how it gets on. */
export interface Limits {
  /** What it draws follows from this number, so that it can be drawn again. */
  readonly seed: number;
  /** When to begin nothing more, by `performance.now()`. */
  readonly endsAt: number;
  /** How many rounds or inputs there are at most. */
  readonly most: number;
  readonly say: (line: string) => void;
}

/** What came of a part. */
export interface Outcome {
  /** What was done, in figures: `{ kills: 1000, decisions: 250_000 }`. */
  readonly counts: Readonly<Record<string, number>>;
  /** What does not hold, one line or more each. */
  readonly findings: readonly string[];
  /** What was left out here, and why. */
  readonly notRun: readonly string[];
}

/** A part of the campaign, and its share of the time. */
export interface Part {
  readonly name: string;
  /** What it proves, for the table. */
  readonly holds: string;
  readonly share: number;
  /** The most it does in its long form. */
  readonly most: number;
  readonly run: (limits: Limits) => Promise<Outcome>;
}

export function isOver({ endsAt, most }: Limits, done: number): boolean {
  return done >= most || performance.now() >= endsAt;
}

/** For short forms: so many rounds, and a minute at most. */
export function briefly(seed: number, most: number): Limits {
  return { seed, most, endsAt: performance.now() + 60_000, say: () => undefined };
}

/** What a gateway has logged of something that nobody foresaw. */
export function unforeseenIn(stderr: string): string[] {
  const lines = stderr.split('\n').filter((line) => /a (?:call|request) failed unexpectedly/.test(line));
  return lines.length === 0
    ? []
    : [`the gateway met what nobody foresaw: ${lines.slice(0, 3).join('\n').slice(0, 4000)}`];
}
