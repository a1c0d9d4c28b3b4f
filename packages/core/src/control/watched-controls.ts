import type { Noting } from '../journal/index.ts';
import { eachNoted, orgItself, watched } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { RememberedControls } from './bulk-control.ts';
import type { ControlRegistry, KnownControls } from './control-registry.ts';
import type { Departures } from './departures.ts';
import type { RunControls } from './run-controls.ts';

/** All controls of runs together, and all departures, under the names by which turns rest on them. */
export const runControlsName = 'controls of runs';
export const departuresName = 'departures';

/** A control of a scope that was asked for under an idempotency key. */
export function bulkName(key: string): string {
  return `control of a scope ${key}`;
}

/** Not noted: ports, and the streams that this gateway alone knows. */
type Unnoted =
  | 'carriesOut'
  | 'discardEmpty'
  | 'endStreams'
  | 'endUnproven'
  | 'hasStream'
  | 'onStep'
  | 'reader'
  | 'settings'
  | 'settling'
  | 'streamCount';

/** Notes what rules read of controls. The outbox of an agent is its own state. */
export function watchedControls(control: ControlRegistry, journal: Noting): ControlRegistry {
  const note = (key: string) => journal.reads({ agent: key });
  const seen: Omit<KnownControls, Unnoted> = {
    runs: watchedRuns(control.runs, journal),
    departures: watchedDepartures(control.departures, journal),
    remembered: watchedRemembered(control.remembered, journal),
    outbox: (agent) => {
      note(agentKey(agent));
      return control.outbox(agent);
    },
    find: (key) => {
      note(key);
      return control.find(key);
    },
    isBlocked: (key) => {
      note(key);
      return control.isBlocked(key);
    },
    hasUnanswered: (key) => {
      note(key);
      return control.hasUnanswered(key);
    },
    receiptOf: (agent, sequence) => {
      note(agentKey(agent));
      return control.receiptOf(agent, sequence);
    },
    overdue: (listenedSince) => eachNoted(control.overdue(listenedSince), ({ agent }) => note(agentKey(agent))),
  };
  return watched(control, seen);
}

function watchedRuns(runs: RunControls, journal: Noting): RunControls {
  const noteAll = () => journal.reads({ name: runControlsName });
  const seen: Omit<KnownControls['runs'], 'mostOfOneBinding'> = {
    over: (agent, runId) => {
      journal.reads(orgItself(agent.orgId));
      return runs.over(agent, runId);
    },
    isHeld: (of, agentId) => {
      journal.reads(orgItself(of.orgId));
      return runs.isHeld(of, agentId);
    },
    ofRun: (runId) => {
      noteAll();
      return runs.ofRun(runId);
    },
    find: (place, of) => {
      noteAll();
      return runs.find(place, of);
    },
    countOf: (of, actor) => {
      noteAll();
      return runs.countOf(of, actor);
    },
    all: () => {
      noteAll();
      return runs.all();
    },
    get count() {
      noteAll();
      return runs.count;
    },
    get newestAt() {
      noteAll();
      return runs.newestAt;
    },
  };
  return watched(runs, seen);
}

function watchedDepartures(departures: Departures, journal: Noting): Departures {
  const seen: KnownControls['departures'] = {
    find: (departure) => {
      journal.reads(orgItself(departure.orgId));
      return departures.find(departure);
    },
    countOf: (orgId) => {
      journal.reads(orgItself(orgId));
      return departures.countOf(orgId);
    },
    countOfOne: (of) => {
      journal.reads(orgItself(of.orgId));
      return departures.countOfOne(of);
    },
    of: (orgId) => {
      journal.reads(orgId === null ? { name: departuresName } : orgItself(orgId));
      return departures.of(orgId);
    },
  };
  return watched(departures, seen);
}

function watchedRemembered(remembered: RememberedControls, journal: Noting): RememberedControls {
  const seen: Omit<KnownControls['remembered'], 'begin'> = {
    find: (request, now) => {
      journal.reads({ name: bulkName(request.key) });
      return remembered.find(request, now);
    },
    known: (request, now) => {
      journal.reads({ name: bulkName(request.key) });
      return remembered.known(request, now);
    },
  };
  return watched(remembered, seen);
}
