import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bindingOfName, namespaceOf, shortName } from './document.ts';

const someId = fc.constantFrom('acme', 'web', 'a', 'x.y', 'A-1_b');
const someBinding = fc.oneof(
  fc.constant({ orgId: null, teamId: null }),
  fc.record({ orgId: someId, teamId: fc.option(someId) }),
);

test('a name tells whose it is, and what its author calls it', () => {
  fc.assert(
    fc.property(someBinding, someId, (binding, short) => {
      const name = `${namespaceOf(binding)}${short}`;
      expect([bindingOfName(name), shortName(name)]).toEqual([binding, short]);
    }),
  );
});

test.each(['', '/', 'a/', '/a', 'a//b', 'a/b/c/d', 'a b', 'acme/a b', '-a', 'a/-b'])('%j is no name', (name) => {
  expect(bindingOfName(name)).toBeUndefined();
});
