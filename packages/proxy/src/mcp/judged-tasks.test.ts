import { expect, it } from 'vitest';
import { TasksOfCallers } from './judged-tasks.ts';

const nobody = () => new Set<string>();

it('forgets the caller who asked longest ago, and nobody who has a session', () => {
  const tasks = new TasksOfCallers(false, 3);
  const of = (caller: string, inUse = nobody) => tasks.of(caller, false, inUse);
  const [ann, bob] = [of('ann'), of('bob'), of('cay')];
  ann.free('task-1');
  ann.isJudged = true;
  expect(of('bob')).toBe(bob);
  // Ann asked before the others, and has a session. Cay has none.
  of('dan', () => new Set(['ann']));
  expect([of('ann'), of('bob')]).toEqual([ann, bob]);
  expect(of('ann').isFree('task-1')).toBe(true);
  // What was known of Cay is gone, so that all of her tasks count as judged.
  expect(of('cay').isFree('task-2')).toBe(false);
});
