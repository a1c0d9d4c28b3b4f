import { expect, test } from 'vitest';
import { visibleProps } from './visible-props.ts';

test('texts of an element, its names and its lists are shown with what they hide', () => {
  const icon = { type: 'svg' };
  expect(
    visibleProps({
      title: 'a\u202eb',
      'aria-label': '\u200b',
      children: ['x\u2066', icon, ['\u200f', 1]],
      id: '\u202e',
    }),
  ).toEqual({
    title: 'a<U+202E>b',
    'aria-label': '<U+200B>',
    children: ['x<U+2066>', icon, ['<U+200F>', 1]],
    id: '\u202e',
  });
});

test('what hides nothing, or is edited, stays the same object', () => {
  const props = { value: 'a\u202eb', children: ['x', ['y', null]], title: 'z' };
  expect(visibleProps(props)).toBe(props);
  expect(props.children).toEqual(['x', ['y', null]]);
});
