import { setTimeout as delay } from 'node:timers/promises';
import { backtestLine } from '@reeve/contract/http';
import type { BacktestLine } from '@reeve/core';
import { ReeveError } from '@reeve/core';
import { expect, test } from 'vitest';
import { backtestText } from './backtest-lines.ts';

const progress: BacktestLine = { type: 'progress', examined: 3, changed: 1, share: 0.5 };
const result: BacktestLine = {
  type: 'result',
  from: 0,
  to: 1000,
  examined: 3,
  skipped: 0,
  changed: 0,
  byOutcome: [],
  byRule: [],
  byAgent: [],
};

async function parsed(
  lines: AsyncGenerator<BacktestLine>,
  onError: (error: unknown) => void = () => undefined,
  silence?: number,
) {
  const found = [];
  for await (const line of backtestText(lines, onError, silence)) {
    expect(line).toMatch(/^[^\n]*\n$/);
    found.push(backtestLine.parse(JSON.parse(line)));
  }
  return found;
}

test('a backtest that takes its time says its last progress again', async () => {
  async function* slow(): AsyncGenerator<BacktestLine> {
    yield progress;
    await delay(200);
    yield result;
  }
  const lines = await parsed(slow(), undefined, 20);
  const said = lines.filter(({ type }) => type === 'progress');
  expect(said.length).toBeGreaterThan(2);
  for (const line of said) expect(line).toEqual({ ...progress, total: null });
  expect(lines.at(-1)).toMatchObject({
    type: 'result',
    from: '1970-01-01T00:00:00.000Z',
    to: '1970-01-01T00:00:01.000Z',
  });
});

test('what goes wrong on the way is the last line, and the log has the details', async () => {
  async function* failing(error: Error): AsyncGenerator<BacktestLine> {
    yield progress;
    throw error;
  }
  const seen: unknown[] = [];
  const onError = (error: unknown): void => void seen.push(error);
  const unforeseen = await parsed(failing(new Error('disk on fire at /secret')), onError);
  expect(unforeseen.at(-1)).toEqual({
    type: 'error',
    detail: 'something went wrong here; the log of the gateway has the details',
  });
  expect(seen).toHaveLength(1);
  const foreseen = await parsed(failing(new ReeveError('store_unavailable', 'the store is away')), onError);
  expect(foreseen.at(-1)).toEqual({ type: 'error', detail: 'the store is away' });
  expect(seen).toHaveLength(1);
});

test('a backtest that nobody reads any more is ended', async () => {
  let ended = false;
  async function* endless(): AsyncGenerator<BacktestLine> {
    try {
      for (;;) {
        await delay(1);
        yield progress;
      }
    } finally {
      ended = true;
    }
  }
  const lines = backtestText(endless(), () => undefined);
  await lines.next();
  await lines.return(undefined);
  expect(ended).toBe(true);
});
