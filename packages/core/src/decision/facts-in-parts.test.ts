import { describe, expect, test } from 'vitest';
import { userFrom } from '../action/index.ts';
import { NotedUser, RunInParts, runAtOnce } from './facts-in-parts.ts';

/** An object with getters of its own has a hidden class of its own, which the engine keeps for long. */
function ownGetters(of: object): string[] {
  const all = Object.entries(Object.getOwnPropertyDescriptors(of));
  return all.filter(([, { get }]) => get !== undefined).map(([name]) => name);
}

describe('what happened in a run', () => {
  test('is read in parts, when somebody asks', () => {
    const read: string[] = [];
    const run = new RunInParts(
      'r',
      () => (read.push('counts'), { checks: 2, spent_usd: 0.5 }),
      () => (read.push('labels'), ['mail']),
    );
    expect([run.id, read, ownGetters(run)]).toEqual(['r', [], []]);
    expect([run.labels, read]).toEqual([['mail'], ['labels']]);
    expect([run.checks, run.spent_usd, read]).toEqual([2, 0.5, ['labels', 'counts', 'counts']]);
  });

  test('can be had whole', () => {
    const run = new RunInParts(
      'r',
      () => ({ checks: 2, spent_usd: 0.5 }),
      () => ['mail'],
    );
    expect({ ...runAtOnce(run) }).toEqual({ id: 'r', checks: 2, spent_usd: 0.5, labels: ['mail'] });
  });
});

test('the groups of a user are noted if somebody asks for them', () => {
  const noted: (readonly string[])[] = [];
  const user = userFrom({ email: 'ann@example.com', groups: ['staff'], claims: { level: 3 } });
  const seen = new NotedUser(user, (groups) => noted.push(groups));
  expect([seen.issuer, seen.sub, seen.email, seen.claims]).toEqual([user.issuer, user.sub, user.email, user.claims]);
  expect([noted, ownGetters(seen)]).toEqual([[], []]);
  expect(seen.groups).toEqual(['staff']);
  expect(noted).toEqual([['staff']]);
});
