import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { stopOrExit } from './last-resort.ts';
import { Opened } from './wiring/opened.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** The log and the exit code of the process when these parts are stopped. */
function stopping(opened: Opened) {
  const said: string[] = [];
  const codes: number[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => said.push(line) });
  const gateway = {
    get closing() {
      return opened.closing;
    },
    stop: () => opened.disposeAsync(),
  };
  return { said, codes, stopped: stopOrExit(gateway, 10_000, logger, (code) => codes.push(code)) };
}

test('a stop that hangs ends the process, and says which part hung', async () => {
  vi.useFakeTimers();
  const opened = new Opened();
  opened.defer(() => new Promise(() => undefined), 'the store');
  opened.defer(() => undefined, 'housekeeping');
  const { said, codes } = stopping(opened);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(codes).toEqual([]);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(codes).toEqual([1]);
  expect(said.join('')).toContain('"hung":"the store"');
});

test('a stop that comes to its end leaves no timer', async () => {
  vi.useFakeTimers();
  const { codes, stopped } = stopping(new Opened());
  await stopped;
  expect(vi.getTimerCount()).toBe(0);
  expect(codes).toEqual([]);
});
