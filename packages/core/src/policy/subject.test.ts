import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { action } from '../decision/action.ts';
import { subjectOf, textsOf } from './subject.ts';

function hostOfUrl(url: string): string | null {
  return subjectOf(action('tool_call', { tool: 'fetch', url })).host;
}

describe('the host of a URL', () => {
  test.each([
    ['https://good.com@evil.com', 'evil.com'],
    ['https://good.com:443@evil.com/', 'evil.com'],
    ['https://a@good.com@evil.com', 'evil.com'],
    ['https://good.com\\@evil.com', 'good.com'],
    ['https://evil.com\\.good.com', 'evil.com'],
    ['https:\\\\evil.com', 'evil.com'],
    ['https:/\\evil.com', 'evil.com'],
    ['https:/evil.com', 'evil.com'],
    ['https:evil.com', 'evil.com'],
    ['https:///evil.com', 'evil.com'],
    ['https:////evil.com/x', 'evil.com'],
    [' https://evil.com', 'evil.com'],
    ['\u0001\thttps://evil.com ', 'evil.com'],
    ['ht\ttps://ev\nil.com', 'evil.com'],
    ['https://%65vil.com', 'evil.com'],
    ['https://evil%2Ecom', 'evil.com'],
    ['https://ｅvil.com', 'evil.com'],
    ['https://evil。com', 'evil.com'],
    ['https://ev\u00adil.com', 'evil.com'],
    ['https://ſecret.com', 'secret.com'],
    ['https://EVIL.com', 'evil.com'],
    ['HTTPS://evil.com', 'evil.com'],
    ['https://evil.com.', 'evil.com'],
    ['https://evil.com:8443/x', 'evil.com'],
    ['https://evil.com?x=@good.com', 'evil.com'],
    ['https://evil.com#@good.com', 'evil.com'],
    ['https://evil.com/@good.com', 'evil.com'],
    ['https://evil.com/https://good.com', 'evil.com'],
    ['https://[::1]:8080/x', '::1'],
    ['https://user@[2001:DB8::1]/x', '2001:db8::1'],
    ['postgres://u:p@db.example.com:5432/app', 'db.example.com'],
    ['wss://evil.com', 'evil.com'],
    ['evil.com/x?y', 'evil.com'],
    ['//evil.com', 'evil.com'],
    ['not a url', null],
    ['/relative/path', null],
    ['https://', null],
    ['file:///etc/passwd', null],
    ['mailto:someone@example.com', null],
    ['', null],
  ])('%j is %j', (url, host) => {
    expect(hostOfUrl(url)).toBe(host);
  });

  test('is what a browser would connect to, however the URL is dressed up', () => {
    const part = fc.constantFrom(
      'good.com',
      'evil.com',
      'EVIL.com',
      '@',
      ':',
      ':80',
      ':443',
      '/',
      '\\',
      '?',
      '#',
      '.',
      '//',
      'a',
      '%65',
      '%2e',
      '\t',
      '\n',
      ' ',
      'ｅ',
      '。',
      '\u00ad',
      '[::1]',
      'ſ',
    );
    const someUrl = fc
      .tuple(
        fc.constantFrom('https:', 'http:', 'HTTPS:', ' https:', 'h\nttps:', 'wss:', 'ftp:'),
        fc.constantFrom('', '/', '//', '\\\\', '///', '/\\'),
        fc.array(part, { minLength: 1, maxLength: 6 }),
      )
      .map(([scheme, slashes, parts]) => scheme + slashes + parts.join(''));
    fc.assert(
      fc.property(someUrl, (url) => {
        const expected = browserHost(url);
        if (expected !== undefined) expect([url, hostOfUrl(url)]).toEqual([url, expected]);
      }),
      { numRuns: 3000 },
    );
  });
});

/** The host that the platform's own URL parser finds; undefined where it refuses the URL. */
function browserHost(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

test.each([
  ['Example.COM', 'example.com'],
  ['example.com.', 'example.com'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['ｅxample.com', 'example.com'],
  ['10.0.0.1', '10.0.0.1'],
  ['evil.com:443', 'evil.com'],
  ['[::1]:443', '::1'],
  ['//evil.com/x', 'evil.com'],
  ['https://evil.com/x', 'evil.com'],
])('the host %j of a network call is matched as %j', (host, matched) => {
  expect(textsOf(subjectOf(action('network_call', { host })), 'hosts')).toEqual([matched]);
});

test('commands are matched by the command and by the whole line', () => {
  const run = action('process_exec', { command: 'git', commandArgs: ['push', '--force'] });
  expect(textsOf(subjectOf(run), 'commands')).toEqual(['git', 'git push --force']);
  expect(textsOf(subjectOf(action('process_exec', { command: 'ls' })), 'commands')).toEqual(['ls']);
});

test('an action has only the dimensions that are its own', () => {
  const everything = { tool: 't', model: 'm', host: 'h', path: '/p', command: 'c', url: 'https://u' };
  const dimensions = ['tools', 'models', 'hosts', 'paths', 'commands'] as const;
  const seen = (type: Parameters<typeof action>[0]) =>
    Object.fromEntries(
      dimensions.map((dimension) => [dimension, textsOf(subjectOf(action(type, everything)), dimension)]),
    );
  const none = { tools: [], models: [], hosts: [], paths: [], commands: [] };
  expect(seen('llm_call')).toEqual({ ...none, models: ['m'] });
  expect(seen('tool_call')).toEqual({ ...none, tools: ['t'], hosts: ['u'] });
  expect(seen('tool_result')).toEqual({ ...none, tools: ['t'], hosts: ['u'] });
  expect(seen('file_operation')).toEqual({ ...none, paths: ['/p'] });
  expect(seen('network_call')).toEqual({ ...none, hosts: ['h'] });
  expect(seen('process_exec')).toEqual({ ...none, commands: ['c'] });
  expect(seen('agent_spawn')).toEqual({ ...none, commands: ['c'] });
});

test('a host of accents takes no longer than one of letters of the same length, give or take', () => {
  const timed = (host: string) => {
    const started = performance.now();
    subjectOf(action('network_call', { host }));
    return performance.now() - started;
  };
  timed('ä'.repeat(1000));
  const letters = Math.max(timed('ä'.repeat(200_000)), 5);
  expect(timed(`a${'\u0301'.repeat(200_000)}`)).toBeLessThan(letters * 50);
});
