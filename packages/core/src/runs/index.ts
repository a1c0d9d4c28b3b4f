export { makeRoomForRun } from './forget-runs.ts';
export type { InRun, RunCount } from './run.ts';
export { RunKeeper } from './run-keeper.ts';
export type { KnownRuns } from './run-registry.ts';
export { RunRegistry } from './run-registry.ts';
export { runsFacts } from './runs-facts.ts';
export { runsFrom, runsTable } from './runs-rows.ts';
export type { OpOfRun, RunsChange, RunsSnapshot } from './runs-slice.ts';
export { countsOf, watchedRuns } from './watched-runs.ts';
