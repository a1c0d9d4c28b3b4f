import { expect, test } from 'vitest';
import { GlobError } from '../kernel/glob.ts';
import { compileHostGlob } from './host-glob.ts';

test.each([
  ['EXAMPLE.com.', 'example.com'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['MÜNCHEN.example', 'xn--mnchen-3ya.example'],
  ['169.254.169.254', '169.254.169.254'],
  ['2852039166', '169.254.169.254'],
  ['0xA9FEA9FE', '169.254.169.254'],
  ['127.1', '127.0.0.1'],
  ['[::1]', '::1'],
  ['::1', '::1'],
  ['[2001:DB8:0:0::1]', '2001:db8::1'],
  ['[::ffff:169.254.169.254]', '169.254.169.254'],
  ['::ffff:a9fe:a9fe', '169.254.169.254'],
  ['*.MÜNCHEN.example', 'a.xn--mnchen-3ya.example'],
  ['*.Example.com.', 'a.example.com'],
  ['169.254.*', '169.254.169.254'],
  ['[ab]c.example', 'bc.example'],
  ['2001:db8:*', '2001:db8::1'],
])('the glob %j matches %j, and stays as it was written', (source, host) => {
  const glob = compileHostGlob(source);
  expect([glob.source, glob.matches(host)]).toEqual([source, true]);
});

test.each([
  ['example.com:443', 'example.com'],
  ['user@example.com', 'example.com'],
  ['https://example.com', 'example.com'],
  ['*.example.com', 'example.com'],
])('the glob %j does not match %j', (source, host) => {
  expect(compileHostGlob(source).matches(host)).toBe(false);
});

test('a label in another script has no wildcards, as no host would match it', () => {
  expect(() => compileHostGlob('a.*ünchen.example')).toThrow(GlobError);
  expect(() => compileHostGlob('a.*ünchen.example')).toThrow('write it in ASCII');
});
