import { DiskSimulation } from './disk-simulation.ts';
import { Simulation } from './simulation.ts';

/** A seed that has found something, and as many steps as its fault took, or more. */
export interface FoundSeed {
  readonly seed: number;
  readonly steps: number;
  /** Several gateways on one database, the same while days end, or one gateway on a disk that fails. */
  readonly on: 'cluster' | 'days' | 'disk';
}

/**
 * They stay, although most draw other histories since more is among what happens: what each has found, a test of the core
 * holds by now, and a mutant breaks again.
 */
export const foundSeeds: readonly FoundSeed[] = [
  // An operation was swept before its end was durable, and lost when that was taken back. Later: the row of a
  // forgotten operation replaced that of another one with its id, and a restart missed that one.
  { seed: 5, steps: 12_000, on: 'cluster' },
  // A gateway that could not read all of a delegator completed an operation, and set back what others had counted.
  { seed: 7, steps: 15_000, on: 'cluster' },
  // An agent was told another reason after a restart.
  { seed: 2, steps: 8000, on: 'cluster' },
  // An operation that ran was swept, because its end was taken back among later ones that stood.
  { seed: 3, steps: 8000, on: 'cluster' },
  // Operations of an agent that had left came back after a restart, with what they reserved.
  { seed: 209, steps: 29_000, on: 'cluster' },
  // After a restart, an operation showed a control that another one had taken over from.
  { seed: 77, steps: 40_000, on: 'cluster' },
  // The row of an operation stayed: its removal was taken back after its agent had left.
  { seed: 8, steps: 20_000, on: 'cluster' },
  // An operation on behalf of another agent was restored from entries as one of its own agent alone.
  { seed: 12, steps: 8000, on: 'cluster' },
  // An operation that ran was lost at a start: its end, by which it needed no row, was taken back.
  { seed: 26, steps: 4000, on: 'cluster' },
  // An operation that was restored from entries showed an earlier control than its last.
  { seed: 200, steps: 11_000, on: 'cluster' },
  // A gateway that could not read all of an agent expired its approval again, and let a delegate of another run on. Labels
  // came back in another order after a restart, where clocks differ.
  { seed: 3_973_015_785, steps: 60_000, on: 'cluster' },
  // A verdict at a gateway that could not read all of an agent opened an approval again that was cancelled.
  { seed: 7007, steps: 20_000, on: 'cluster' },
  // A run was forgotten with its labels: its last operation had ended, and that was taken back.
  { seed: 811_922, steps: 8000, on: 'cluster' },
  // A gateway that could not read all of a delegate counted a refused check for it from a number that was too small.
  { seed: 812_021, steps: 8000, on: 'cluster' },
  // A start from entries left the rows of operations whose agent had left.
  { seed: 930_014, steps: 8000, on: 'cluster' },
  // A gateway that could not read a document's newest version took changes of it.
  { seed: 930_021, steps: 8000, on: 'cluster' },
  // A check that was taken back took the time of another gateway's check along.
  { seed: 940_008, steps: 8000, on: 'cluster' },
  // A gateway that could not read a control of an operation saved the operation's row.
  { seed: 940_009, steps: 15_000, on: 'cluster' },
  // A gateway that could not read that a run was given labels decided without them for others in that run.
  { seed: 950_007, steps: 10_000, on: 'cluster' },
  // Of a share that was used up between a charge and a release of the same gateway after it, nobody was told.
  { seed: 960_004, steps: 10_000, on: 'cluster' },
  // A result was judged for a delegate where not all of an agent on whose behalf it acts could be read.
  { seed: 9_910_102, steps: 45_000, on: 'cluster' },
  // A row of another gateway was taken for one that has the end of an operation, which then ran again after a restart.
  { seed: 1011, steps: 40_000, on: 'days' },
  // A simulated gateway that had ended went on, and its registration of a token came after the next one.
  { seed: 3001, steps: 40_000, on: 'days' },
  // The judge wanted a word about what reservations from the day before use of the next one.
  { seed: 3002, steps: 40_000, on: 'days' },
  // An agent left while another gateway wrote the row of an operation that was forgotten here. The row stayed.
  { seed: 3008, steps: 23_000, on: 'days' },
  // A gateway wrote the row of an operation that another one had forgotten and whose row that one had removed.
  { seed: 3009, steps: 15_000, on: 'days' },
  // A gateway that could not read all of a team ended a delegation there, and not those below it.
  { seed: 200, steps: 11_000, on: 'days' },
  // A gateway ended an operation and could not read whom it asked, and others went on asking.
  { seed: 970_003, steps: 20_000, on: 'days' },
  // After a start, an operation had the approval of an earlier one with its id.
  { seed: 301, steps: 5000, on: 'disk' },
  // The power failed in a commit without entries, which was written.
  { seed: 910_012, steps: 4000, on: 'disk' },
];

/** The simulation in which a seed has found something. */
export function simulationOf({ seed, on }: FoundSeed): DiskSimulation | Simulation {
  return on === 'disk' ? new DiskSimulation(seed) : new Simulation(seed, { passesDays: on === 'days' });
}
