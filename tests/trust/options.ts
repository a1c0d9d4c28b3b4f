import { parseArgs } from 'node:util';

export interface TrustOptions {
  readonly minutes: number;
  /** Empty means all. */
  readonly only: readonly string[];
  readonly seed: number;
  readonly report: string | undefined;
}

/** The options of the command line. Undefined if help is requested. Throws if one is wrong. */
export function readOptions(args: readonly string[], names: readonly string[]): TrustOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      only: { type: 'string', default: '' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      report: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--only: there is no part "${unknown}"; there are ${names.join(', ')}`);
  const minutes = Number(values.minutes);
  const seed = Number(values.seed);
  if (!(minutes > 0 && minutes <= 24 * 60)) throw new Error('--minutes takes a number above 0, up to 1440');
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed takes a whole number that is not negative');
  return { minutes, only, seed, report: values.report };
}

export function helpText(names: readonly string[]): string {
  return `Tries to break Reeve, for as long as it is given, and says what it found.

  npm run trust -- [--minutes N] [--only PART[,PART]] [--seed N] [--report FILE]

  --minutes N     How long in all (10). Each part has its share; what one does not use goes to the others.
  --only PARTS    Only these: ${names.join(', ')}.
  --seed N        Draw what was drawn before.
  --report FILE   Write the results as JSON, and their table into docs/trust.md.

  npm run trust -- --minutes 60 --report docs/trust-results.json
  npm run trust -- --only kills --minutes 20
  npm run trust -- --only fuzz --seed 7

Runs on loopback alone and ends only what it has started. Exit code: 0 nothing found, 1 something, 2 wrong options.
`;
}
