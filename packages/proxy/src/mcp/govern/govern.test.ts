import { describe, expect, it } from 'vitest';
import type { Message } from '../protocol/message.ts';
import { messageOf } from '../protocol/message.ts';
import { CallProgress } from './call-progress.ts';
import { costsOf } from './costs.ts';

const report = (progress: number, total?: number) =>
  messageOf({ method: 'notifications/progress', params: { progressToken: 't', progress, total } });
const valueOf = ({ value }: Message) => (value as { params: { progress: number; total?: number } }).params;

describe('progress', () => {
  it('passes as it is where nothing was held', () => {
    const progress = new CallProgress('t', () => {});
    const message = report(0, 5);
    expect(progress.relay(message)).toBe(message);
  });

  it.each([
    [0, 1, 2],
    [0.1, 0.2, 0.3],
    [-1, 0, 1],
    [1e9, 2e9, 3e9],
  ])('goes on above what was reported while the call was held: %j', (...values) => {
    const sent: Message[] = [];
    const progress = new CallProgress('t', (message) => sent.push(message));
    progress.hold('waiting');
    progress.release();
    for (const value of values) sent.push(progress.relay(report(value, values.at(-1))));
    progress.hold('paused');
    progress.release();
    const seen = sent.map((message) => valueOf(message).progress);
    expect(seen).toHaveLength(values.length + 2);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    const last = sent.at(-2);
    expect(last === undefined ? undefined : valueOf(last).total).toBe(seen.at(-2));
  });

  it('says nothing to a client that did not ask', () => {
    const sent: Message[] = [];
    new CallProgress(undefined, (message) => sent.push(message)).hold('waiting');
    expect(sent).toEqual([]);
  });
});

it('knows what a tool costs by the first glob that matches', () => {
  const costs = costsOf({ 'search_?': '0.01', 'search_*': 0.5, '[ab]**': '2', '*': '0.000001' });
  expect(['search_1', 'search_docs', 'a/b/c', 'other'].map(costs)).toEqual([10_000, 500_000, 2_000_000, 1]);
  expect(costs('x/y')).toBeUndefined();
  expect(() => costsOf({ x: 'much' })).toThrow('amount');
});
