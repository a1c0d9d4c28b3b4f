import { expect, test } from 'vitest';
import type { Answer } from './caller.ts';
import { difference } from './compare-answers.ts';

const progress = (examined: number) => `{"type":"progress","examined":${examined}}\n`;
const answer = (text: string): Answer => ({ status: 200, type: 'application/x-ndjson', headers: [], text });

test('how often the same progress is reported tells nothing; other progress does', () => {
  const once = answer(progress(0));
  expect(difference(answer(progress(0).repeat(3)), once, [])).toBeUndefined();
  expect(difference(once, answer(progress(0).repeat(2)), [])).toBeUndefined();
  expect(difference(answer(progress(0) + progress(5)), once, [])).toContain('"examined":5');
});
