import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LanesDatabase } from './lanes-database.ts';
import { LanesGateway } from './lanes-gateway.ts';
import type { Rules } from './lanes-model.ts';
import { allRules } from './lanes-model.ts';

const lanes = 3;
const gateways = 3;
const credentials = 6;

const someLane = fc.nat({ max: lanes - 1 });
const someAmount = fc.integer({ min: 1, max: 20 });

const someStep = fc
  .record({
    by: fc.nat({ max: gateways - 1 }),
    lane: someLane,
    amount: someAmount,
    credential: fc.nat({ max: credentials - 1 }),
    // A gateway hears of most of what others do before it acts.
    heard: fc.constantFrom(0, 0.5, 1, 1, 1, 1),
    deed: fc.constantFrom(
      ...['charge', 'charge', 'charge', 'charge', 'settle', 'settle', 'take', 'take'],
      ...['cap', 'revoke', 'stop', 'give_back', 'receive', 'report', 'restart'],
    ),
  })
  .map((step) => ({ ...step, cap: step.amount * 4 }));

type Step = typeof someStep extends fc.Arbitrary<infer Made> ? Made : never;

function worldOf(rules: Rules) {
  const database = new LanesDatabase(rules, lanes);
  database.commitCommon(database.knowledge, { kind: 'cap_set', cap: 60 });
  const all = Array.from({ length: gateways }, () => new LanesGateway(database, rules));
  return { database, all };
}

function run(rules: Rules, steps: readonly Step[]): LanesDatabase {
  const { database, all } = worldOf(rules);
  for (const [nth, { by, lane, amount, credential, heard, deed, cap }] of steps.entries()) {
    const gateway = all[by];
    if (gateway === undefined) continue;
    gateway.hear(heard);
    if (deed === 'restart') all[by] = new LanesGateway(database, rules);
    else if (deed === 'charge') {
      if (gateway.charge(lane, `op${nth}`, amount, credential) === 'denied' && gateway.take(lane, amount))
        gateway.hear(1);
    } else if (deed === 'settle') gateway.settle(lane, amount);
    else if (deed === 'take') gateway.take(lane, amount);
    else if (deed === 'give_back') gateway.giveBack(lane);
    else if (deed === 'receive') gateway.receive(lane);
    else if (deed === 'report') gateway.report(lane);
    else if (deed === 'cap') gateway.say({ kind: 'cap_set', cap });
    else if (deed === 'revoke') gateway.say({ kind: 'credential_revoked', credential });
    else gateway.say({ kind: 'everything_stopped' });
  }
  return database;
}

const someSteps = fc.array(someStep, { minLength: 10, maxLength: 80, size: 'max' });

test('whatever gateways know, the cap of all lanes holds, and a revoked credential is charged nothing', () => {
  fc.assert(
    fc.property(someSteps, (steps) => {
      expect(run(allRules, steps).faults).toEqual([]);
    }),
    { numRuns: 3000 },
  );
});

test.each(Object.keys(allRules) as (keyof Rules)[])('a violation is found where a rule is left out: %s', (rule) => {
  const broken = { ...allRules, [rule]: false };
  const { failed } = fc.check(
    fc.property(someSteps, (steps) => run(broken, steps).faults.length === 0),
    { numRuns: 20_000, endOnFailure: true },
  );
  expect(failed).toBe(true);
});

test('nothing of the cap is lost: once all lanes have reported and given back, all that is not used is free', () => {
  fc.assert(
    fc.property(someSteps, (steps) => {
      const database = run(allRules, steps);
      const gateway = new LanesGateway(database, allRules);
      for (let lane = 0; lane < lanes; lane++) {
        for (const tidy of ['report', 'giveBack', 'receive'] as const) {
          gateway.hear(1);
          gateway[tidy](lane);
        }
      }
      const { common, shares } = database.knowledge;
      const { cap, epoch } = database.commonAt(common);
      expect(database.sharesAt(shares, epoch).free(cap, allRules)).toBe(cap - database.used);
    }),
    { numRuns: 1000 },
  );
});

test('what stops everything stops all that a lane runs where it is first known, and nothing that comes after', () => {
  fc.assert(
    fc.property(someSteps, (steps) => {
      const database = run(allRules, steps);
      const { common } = database.knowledge;
      database.commitCommon(database.knowledge, { kind: 'everything_stopped' });
      for (const [index, { length }] of database.lanes.entries()) {
        expect(database.laneAt(index, length, common + 1).running.size).toBe(0);
      }
    }),
    { numRuns: 500 },
  );
});
