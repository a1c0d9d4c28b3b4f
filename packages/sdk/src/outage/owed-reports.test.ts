import { expect, test } from 'vitest';
import { ReeveOpNotFound, ReeveUnavailable } from '../errors.ts';
import { OwedReports } from './owed-reports.ts';

test('what is delivered or refused is told once; what is out of reach is kept', async () => {
  const owed = new OwedReports();
  for (const opId of ['fine', 'unknown', 'lost', 'later']) owed.add(opId);
  const told: string[] = [];
  let reachable = false;
  const send = async (opId: string) => {
    told.push(opId);
    if (opId === 'unknown') throw new ReeveOpNotFound('no such operation');
    if (opId === 'lost' && !reachable) throw new ReeveUnavailable('gone');
  };
  await owed.deliver(send);
  expect(told).toEqual(['fine', 'unknown', 'lost']);
  reachable = true;
  await owed.deliver(send);
  await owed.deliver(send);
  expect(told).toEqual(['fine', 'unknown', 'lost', 'lost', 'later']);
});

test('a report that is forgotten while others are told is not sent', async () => {
  const owed = new OwedReports();
  owed.add('first');
  owed.add('second');
  const told: string[] = [];
  await owed.deliver(async (opId) => {
    told.push(opId);
    owed.forget('second');
  });
  expect(told).toEqual(['first']);
});

test('a long outage does not fill the memory, and what came first is kept', async () => {
  const owed = new OwedReports();
  for (let i = 0; i < 5000; i++) owed.add(`t:s${i}`);
  const told: string[] = [];
  await owed.deliver(async (opId) => {
    told.push(opId);
  });
  expect(told).toHaveLength(1000);
  expect(told[0]).toBe('t:s0');
});
