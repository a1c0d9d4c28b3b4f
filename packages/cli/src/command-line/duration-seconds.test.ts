import { describe, expect, test } from 'vitest';
import { UsageError } from '../cli-error.ts';
import { futureTime } from './duration-seconds.ts';

describe('a time to come', () => {
  test('is a span from now, a day or a moment', () => {
    const soon = Date.parse(futureTime('2h', '--until'));
    expect(Math.abs(soon - Date.now() - 7_200_000)).toBeLessThan(60_000);
    expect(futureTime('2999-01-02', '--until')).toBe('2999-01-02T00:00:00.000Z');
    expect(futureTime('2999-01-02T03:04:05+02:00', '--until')).toBe('2999-01-02T01:04:05.000Z');
  });

  test.each(['2020-01-01', 'tomorrow', '', '0s', '2999-13-01', '2999-01-02T03:04:05'])('is not %j', (text) => {
    expect(() => futureTime(text, '--until')).toThrow(UsageError);
  });
});
