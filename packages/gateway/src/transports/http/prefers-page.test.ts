import { expect, test } from 'vitest';
import { prefersPage } from './prefers-page.ts';

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
  ['text/html, */*; q=0.01', true],
  ['TEXT/HTML', true],
  ['text/*', true],
  ['text/html;q=0.5,application/json;q=0.4', true],
  ['text/html;q=0.4,application/json;q=0.5', false],
  ['application/json, text/html', false],
  ['text/html, application/problem+json', false],
  ['text/html;q=0', false],
  ['text/html;q=0,*/*', false],
  ['text/html;q=high', false],
  ['*/*', false],
  ['application/json', false],
  ['image/avif,image/webp', false],
  ['', false],
  [undefined, false],
])('%j: %s', (accept, isPage) => {
  expect(prefersPage(accept)).toBe(isPage);
});
