import { expect, test } from 'vitest';
import { landlockFinding, usable } from './examine-landlock.ts';

test.each([
  [undefined, 'not known'],
  [0, 'refused (0)'],
  [1, 'version 1'],
  [256 - 38, 'the kernel has none'],
  [256 - 95, 'switched off'],
  [256 - 1, 'refused (255)'],
])('the answer %s of the kernel is no lock, and the doctor says what to do', (answer, detail) => {
  expect(usable(answer)).toBeUndefined();
  const finding = landlockFinding(answer);
  expect(finding).toMatchObject({ status: 'warning', detail: expect.stringContaining(detail) as string });
  expect(finding.advice).not.toBe('');
});

test('a version by which files can be moved between folders is used', () => {
  expect([2, 5].map((answer) => [usable(answer), landlockFinding(answer).detail])).toEqual([
    [2, 'version 2: a second lock on files'],
    [5, 'version 5: a second lock on files'],
  ]);
  expect(landlockFinding(6)).toMatchObject({
    status: 'ok',
    detail: 'version 6: a second lock on files, and on signals',
  });
});
