import { describe, expect, test } from 'vitest';
import { WaitingJobs } from './waiting-jobs.ts';

interface Named {
  readonly tenant: string | null;
  readonly name: string;
}

function waiting(...jobs: readonly Named[]): WaitingJobs<Named> {
  const made = new WaitingJobs<Named>();
  for (const job of jobs) made.add(job, 60_000, () => {});
  return made;
}

function job(tenant: string | null, name: string): Named {
  return { tenant, name };
}

function drained(jobs: WaitingJobs<Named>): string[] {
  const names: string[] = [];
  for (let next = jobs.take(); next !== undefined; next = jobs.take()) names.push(next.name);
  return names;
}

describe('jobs that wait', () => {
  test('come in the order they came, where nobody has been served', () => {
    expect(drained(waiting(job('a', '1'), job('b', '2'), job('c', '3')))).toEqual(['1', '2', '3']);
  });

  test('of the operator come first', () => {
    expect(drained(waiting(job('a', '1'), job('b', '2'), job(null, '3'), job(null, '4')))).toEqual([
      '3',
      '4',
      '1',
      '2',
    ]);
  });

  test('of a tenant that was served come after those of others, however many it has', () => {
    expect(drained(waiting(job('a', '1'), job('a', '2'), job('a', '3'), job('b', '4'), job('c', '5')))).toEqual([
      '1',
      '4',
      '5',
      '2',
      '3',
    ]);
    const again = waiting(job('a', '1'));
    again.take();
    again.add(job('a', '2'), 60_000, () => {});
    again.add(job('b', '3'), 60_000, () => {});
    expect(drained(again)).toEqual(['3', '2']);
  });

  test('are given up in the end, but not the operator’s', async () => {
    const jobs = new WaitingJobs<Named>();
    jobs.add(job(null, '1'), 0, () => expect.unreachable());
    await new Promise<void>((resolve) => {
      jobs.add(job('a', '2'), 5, resolve);
    });
    expect(jobs.takeAll()).toEqual([job(null, '1')]);
    expect(jobs.size).toBe(0);
  });
});
