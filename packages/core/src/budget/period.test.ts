import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Calendar, periods } from './period.ts';

/** Any moment of a gateway's life, and long before and after it. */
const moment = fc.date({
  min: new Date('1970-01-01T00:00:00Z'),
  max: new Date('9998-12-31T00:00:00Z'),
  noInvalidDate: true,
});

test('the usual zone, which is computed, has the days and months of the same zone by another name', () => {
  const [computed, looked] = [new Calendar('UTC'), new Calendar('Etc/UTC')];
  fc.assert(
    fc.property(moment, (date) => {
      for (const period of periods) {
        const window = computed.window(period, date.getTime());
        expect(window).toEqual(looked.window(period, date.getTime()));
        expect(computed.named(period, window.id)).toEqual(window);
      }
    }),
  );
});

test('a zone that nobody knows is an error', () => {
  expect(() => new Calendar('Mars/Olympus')).toThrow(RangeError);
});
