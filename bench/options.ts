import { parseArgs } from 'node:util';
import { resultsFolder } from './publish.ts';

export const parts = [
  'throughput',
  'scaling',
  'memory',
  'start',
  'logs',
  'logins',
  'control-streams',
  'scoped-stop',
  'fan-out',
  'conditions',
  'labels',
  'subjects',
  'cli-start',
  'hook',
  'floor',
  'sdk-cost',
  'cluster',
  'model-proxy',
  'peers',
  'floods',
  'segments',
  'profile',
] as const;
export type Part = (typeof parts)[number];

/** The durations of a run. */
export interface Pace {
  readonly rounds: number;
  /** Measured time, per round and server. */
  readonly seconds: number;
  /** Before the first round, for the JIT compiler. */
  readonly warmupSecs: number;
  /** Before each round, for the connections. */
  readonly leadInSecs: number;
}

export interface Options {
  readonly parts: readonly Part[];
  readonly quick: boolean;
  readonly pace: Pace;
  readonly decisions: number;
  /** Decisions that a start finds. */
  readonly ops: number;
  /** Entries of the log whose pages are timed. */
  readonly entries: number;
  readonly pin: boolean;
  /** Where results are written; undefined for nowhere. */
  readonly out: string | undefined;
}

export const usage = `Measures the gateway beside an echo on the bare gRPC library, on this machine.

  npm run bench                                      throughput, scaling and a short memory run
  npm run bench -- --quick                           the same in a few minutes; nothing is written
  npm run bench -- --only throughput --seconds 5     one part: ${parts.join(', ')}
  npm run bench -- --only memory --decisions 10000000
  npm run bench -- --only start --ops 300000         a start that finds as many operations, after kill -9
  npm run bench -- --only logs --entries 10000000
  npm run bench -- --only logins                     decisions beside fifty logins at a time, and without
  npm run bench -- --only control-streams            ten thousand control streams: memory, and decisions beside them
  npm run bench -- --only fan-out                    events to up to a thousand WebSockets, and decisions beside them
  npm run bench -- --only scoped-stop                a hundred thousand operations stopped while others are answered
  npm run bench -- --only conditions                 decisions with conditions and budgets, by 10 and 1,000 documents
  npm run bench -- --only labels                     decisions by labels of runs, and what detectors find in 1 MB of text
  npm run bench -- --only subjects                   checks that name a user by a token, and without
  npm run bench -- --only cluster                    PostgreSQL beside the embedded store, and one to four gateways on it
  npm run bench -- --only model-proxy                what the model proxy adds to a first byte, and 200 streams at once
  npm run bench -- --only peers                      echoes on tonic, grpc-go and grpc-js, Reeve, OPA, Cedar, OpenFGA and Cerbos
  npm run bench -- --only floods                     decisions beside hostile clients
  npm run bench -- --only segments                   the log in SQLite, and in a file that is only appended to
  npm run bench -- --only cli-start                  what the command takes to start, beside a bare node
  npm run bench -- --only sdk-cost                   what a check costs the agent's process, beside a bare call
  npm run bench -- --only hook                       what the hook of a coding agent takes, beside a bare node
  npm run bench -- --only floor                      what a floor costs: a start, a connection, a stop of 1,000 processes

  --quick           short rounds, small numbers, no results on disk
  --only PART       one part only; may be given more than once. "profile" says where the gateway's time goes
  --seconds N       measured seconds of each round (default 3, quick 1)
  --rounds N        rounds of echo and gateway in turn (default 5, quick 2)
  --decisions N     of the memory run (default 1000000, quick 200000)
  --ops N           of the start (default 300000, quick 30000)
  --entries N       of the log whose pages are timed (default 1000000, quick 100000)
  --no-pin          do not keep the processes to cores of their own
  --out FOLDER      where results go (default ${resultsFolder}, and the tables into docs/performance.md)
`;

export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      decisions: { type: 'string' },
      ops: { type: 'string' },
      entries: { type: 'string' },
      'no-pin': { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick } = values;
  const seconds = positive('--seconds', values.seconds, quick ? 1 : 3);
  return {
    parts: values.only.length === 0 ? ['throughput', 'scaling', 'memory'] : values.only.map(partOf),
    quick,
    pace: {
      rounds: positive('--rounds', values.rounds, quick ? 2 : 5),
      seconds,
      warmupSecs: quick ? 1 : 3,
      leadInSecs: quick ? 0.25 : 0.5,
    },
    decisions: Math.ceil(positive('--decisions', values.decisions, quick ? 200_000 : 1_000_000)),
    ops: Math.ceil(positive('--ops', values.ops, quick ? 30_000 : 300_000)),
    entries: Math.ceil(positive('--entries', values.entries, quick ? 100_000 : 1_000_000)),
    pin: !values['no-pin'],
    out: values.out ?? (quick ? undefined : resultsFolder),
  };
}

function partOf(text: string): Part {
  const part = parts.find((candidate) => candidate === text);
  if (part === undefined) throw new Error(`--only must be one of ${parts.join(', ')}, not "${text}"`);
  return part;
}

function positive(option: string, text: string | undefined, byDefault: number): number {
  const value = text === undefined ? byDefault : Number(text);
  if (!(value > 0)) throw new Error(`${option} must be a number above zero, not "${text}"`);
  return value;
}
