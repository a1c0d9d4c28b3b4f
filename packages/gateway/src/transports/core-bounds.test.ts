import { bounds } from '@reeve/contract';
import { longest, mostBytesOfAnnotations, passwordBounds } from '@reeve/core';
import { expect, test } from 'vitest';

test('the core has the bounds of the contract', () => {
  expect(bounds).toMatchObject({ ...longest, annotations: mostBytesOfAnnotations, password: passwordBounds });
});
