import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { system } from '../audit/entry.ts';
import type { RunControl } from './run-controls.ts';
import { placeOf, reaches, RunControls } from './run-controls.ts';

const name = fc.constantFrom('a', '');
const orAny = fc.option(name, { nil: null });

const someControl: fc.Arbitrary<RunControl> = fc.record({
  runId: fc.constantFrom('run-1', 'run-2'),
  orgId: orAny,
  teamId: orAny,
  agentId: orAny,
  action: fc.constantFrom('pause' as const, 'terminate' as const),
  controlId: fc.uuid(),
  actor: fc.constant(system),
  imposedBy: fc.constantFrom(
    { orgId: null, teamId: null },
    { orgId: 'a', teamId: null },
    { orgId: 'a', teamId: 'b' },
    { orgId: 'b', teamId: null },
  ),
  at: fc.nat({ max: 100 }),
  refusedAt: fc.constant(null),
});

test('a check meets the controls that reach its agent, whatever came, went and was taken back', () => {
  const step = fc.record({
    control: someControl,
    do: fc.constantFrom('put', 'put', 'remove', 'put and undo', 'remove and undo'),
  });
  const agents = fc.sample(fc.record({ orgId: name, teamId: name, agentId: fc.constantFrom('a') }), 20);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
      const runs = new RunControls();
      const held = new Map<string, RunControl>();
      for (const { control, do: what } of steps) {
        const key = JSON.stringify([placeOf(control), control.imposedBy]);
        const undo = what.startsWith('put') ? runs.put(control) : runs.remove(control);
        if (what === 'put') held.set(key, control);
        else if (what === 'remove') held.delete(key);
        else undo();
        const bindings = [...held.values()].map(({ imposedBy }) => JSON.stringify(imposedBy));
        const sizes = [...Map.groupBy(bindings, (binding) => binding).values()].map(({ length }) => length);
        expect([runs.count, runs.mostOfOneBinding]).toEqual([held.size, Math.max(0, ...sizes)]);
        for (const runId of ['run-1', 'run-2']) {
          const all = [...held.values()].filter((each) => each.runId === runId);
          expect(new Set(runs.ofRun(runId))).toEqual(new Set(all));
          for (const agent of agents) {
            const actions = all.filter((each) => reaches(each, agent)).map((each) => each.action);
            const strongest = actions.includes('terminate') ? 'terminate' : actions[0];
            expect(runs.over(agent, runId)?.action).toBe(strongest);
          }
        }
      }
    }),
  );
});
