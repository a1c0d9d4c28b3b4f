import { expect, test } from 'vitest';
import { keyFault } from './key-fault.ts';

const right = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

test('a right key has no fault, and each single wrong character is seen', () => {
  expect(keyFault(right)).toBeUndefined();
  for (let at = 17; at < right.length; at++) {
    const other = right[at] === '0' ? '1' : '0';
    expect(keyFault(`${right.slice(0, at)}${other}${right.slice(at + 1)}`)).toContain('checksum');
  }
});

test.each(['', 'rvk_', 'sk-123', right.slice(0, -1), `${right}0`, ` ${right}`, right.toUpperCase()])(
  '%j does not have the form of a key',
  (key) => {
    expect(keyFault(key)).toContain('form');
  },
);
