import { expect, test } from 'vitest';
import { flag, oneOf, parseSearch, stringifySearch, text } from './search.ts';

test.each(['', '?state=running&q=12', '?tag=a&tag=b&q=%C3%BC'])('%j reads and writes as it is', (search) =>
  expect(stringifySearch(parseSearch(search))).toBe(search),
);

test('what is not set does not stand in the address', () => {
  expect(stringifySearch({ a: undefined, b: null, c: '', d: false, e: true, f: 0 })).toBe('?e=true&f=0');
});

test('what does not fit is left out, so that an old link still opens', () => {
  expect([text('x'), text(''), text(['x']), text(7)]).toEqual(['x', undefined, undefined, undefined]);
  expect([oneOf(['a', 'b'], 'b'), oneOf(['a', 'b'], 'c')]).toEqual(['b', undefined]);
  expect([flag('true'), flag('yes'), flag(undefined)]).toEqual([true, undefined, undefined]);
});
