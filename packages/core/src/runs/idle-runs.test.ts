import { expect, test } from 'vitest';
import { restoring } from '../journal/meaning.ts';
import { agentId } from '../testkit/requests.ts';
import { IdleRuns } from './idle-runs.ts';
import { runBearer } from './label.ts';
import { RunRegistry } from './run-registry.ts';

/** A registry of so many runs. Each check first forgets what it must, as a gateway does. */
function registryOf(most: number, least: number) {
  const runs = new RunRegistry(1e9, new IdleRuns(most, least));
  let at = 0;
  const check = (name: string, runId: string, state = 'terminated') => {
    const run = { agent: agentId(name), runId, delegators: [] };
    runs.forget({ runs: runs.toMakeRoom(run, ++at).map(({ place }) => place) });
    if (state === 'running') runs.move({ ...run, updatedAt: at }, 1);
    const op = { ...run, state, digest: 'd', updatedAt: at, costMicros: 0, reservedMicros: 0 };
    runs.count({ op, checked: true }, restoring);
  };
  const tidy = () => {
    const found = [...runs.toForget(() => at)].filter((run) => run !== undefined);
    runs.forget({ runs: found.map(({ place }) => place) });
  };
  const label = (name: string, runId: string) => {
    const bearer = runBearer({ agent: agentId(name), runId, delegators: [] });
    const may = runs.labels.mayLabel(bearer);
    if (may) runs.give({ ...bearer, labels: [{ name: 'l', since: at, opId: 'o:s', policyRule: 'p/l' }] });
    return { may, clear: () => runs.clear({ ...bearer, names: ['l'] }) };
  };
  const known = (name: string, runId: string) => runs.of({ agent: agentId(name), runId, delegators: [] }).checks;
  return { runs, check, label, known, tidy };
}

test('whoever invents a run for each check forgets its own that were quiet for longest, and nobody else’s', () => {
  const { runs, check, known } = registryOf(100, 10);
  check('umbrella/search/bot', 'quiet');
  check('acme/other/bot', 'quiet');
  check('acme/search/bot', 'open', 'running');
  for (let nth = 0; nth < 5000; nth++) {
    check('acme/search/bot', `r${nth}`);
    if (nth % 20 === 0) check('acme/search/bot', 'busy');
  }
  expect(runs.size).toBeLessThanOrEqual(51);
  expect(known('acme/search/bot', 'busy')).toBe(250);
  expect(known('acme/search/bot', 'open')).toBe(1);
  expect(known('acme/search/bot', 'r4999')).toBe(1);
  expect(known('acme/search/bot', 'r0')).toBe(0);
  expect(known('acme/other/bot', 'quiet')).toBe(1);
  expect(known('umbrella/search/bot', 'quiet')).toBe(1);
});

test('what is under way is never forgotten, however much it is', () => {
  const { check, known } = registryOf(10, 10);
  for (let nth = 0; nth < 50; nth++) check('acme/search/bot', `open${nth}`, 'running');
  for (let nth = 0; nth < 50; nth++) expect(known('acme/search/bot', `open${nth}`)).toBe(1);
});

test('a team that has none to give up takes the room of the one with most', () => {
  const { check, known, runs } = registryOf(20, 20);
  for (let nth = 0; nth < 15; nth++) check('acme/large/bot', `r${nth}`);
  for (let nth = 0; nth < 5; nth++) check('acme/small/bot', `r${nth}`);
  check('acme/new/bot', 'first');
  expect(runs.size).toBe(20);
  expect(known('acme/large/bot', 'r0')).toBe(0);
  expect(known('acme/small/bot', 'r0')).toBe(1);
});

test('many orgs have equal shares, and each has a least one', () => {
  const { runs, check, known, tidy } = registryOf(100, 10);
  for (let nth = 0; nth < 300; nth++) check('acme/search/bot', `r${nth}`);
  expect(runs.size).toBe(100);
  for (let org = 0; org < 30; org++) for (let nth = 0; nth < 30; nth++) check(`org-${org}/search/bot`, `r${nth}`);
  for (let nth = 0; nth < 200; nth++) check('acme/search/bot', `s${nth}`);
  tidy();
  expect(known('acme/search/bot', 's199')).toBe(1);
  expect(runs.size).toBeLessThanOrEqual(31 * 10);
});

test('a labelled run makes no room for others, however many somebody invents, until its labels are cleared', () => {
  const { runs, check, label, known, tidy } = registryOf(10, 10);
  check('acme/search/bot', 'labelled');
  const { may, clear } = label('acme/search/bot', 'labelled');
  expect(may).toBe(true);
  const invent = () => {
    for (let nth = 0; nth < 50; nth++) check('acme/search/bot', `r${nth}`);
    tidy();
  };
  invent();
  expect(known('acme/search/bot', 'labelled')).toBe(1);
  expect(runs.size).toBe(10);
  clear();
  invent();
  expect(known('acme/search/bot', 'labelled')).toBe(0);
});

test('an org labels no more runs than its share, which leaves other orgs theirs, and has room again for each that is cleared', () => {
  const { check, label } = registryOf(20, 10);
  check('umbrella/search/bot', 'r');
  const labelled = Array.from({ length: 12 }, (_, nth) => {
    check('acme/search/bot', `r${nth}`);
    return label('acme/search/bot', `r${nth}`);
  });
  expect(labelled.map(({ may }) => may)).toEqual([...Array.from({ length: 10 }, () => true), false, false]);
  expect(label('umbrella/search/bot', 'r').may).toBe(true);
  expect(label('acme/other/bot', 'r').may).toBe(false);
  const undo = labelled[0]?.clear();
  expect(label('acme/other/bot', 'r').may).toBe(true);
  // Whoever takes the clearing back finds both labelled.
  undo?.();
  expect(label('acme/other/bot', 'q').may).toBe(false);
});
