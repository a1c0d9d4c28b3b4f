import { expect, it } from 'vitest';
import { namedUrl, secureUrlIn } from './secure-url.ts';

it.each(['https://a.example/token', 'http://127.0.0.1:1/t', 'http://localhost/t', 'http://[::1]:8/t'])(
  'tokens may go to %s',
  (text) => expect(secureUrlIn(text)?.href).toBe(text),
);

it.each([
  'http://a.example/token',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  'https://user:password@a.example/',
  'https://a.example/#x',
  'ftp://127.0.0.1/',
  'javascript:alert(1)',
  'nothing',
  7,
])('tokens do not go to %s', (text) => expect(secureUrlIn(text)).toBeUndefined());

it('a foreign document does not lead to this machine', () => {
  const foreign = new URL('https://a.example');
  expect(namedUrl('http://127.0.0.1:8080/x', foreign)).toBeUndefined();
  expect(namedUrl('https://localhost/x', foreign)).toBeUndefined();
  expect(namedUrl('https://b.example/x', foreign)?.href).toBe('https://b.example/x');
  expect(namedUrl('http://127.0.0.1:8080/x', new URL('http://127.0.0.1:9'))?.port).toBe('8080');
});
