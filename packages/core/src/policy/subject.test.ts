import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import { cpuMs } from '../testkit/cpu-time.ts';
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

/** The host that the platform's own URL parser finds; undefined if it refuses the URL. */
function browserHost(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname } = new URL(url);
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

/** One address, in the spellings that the URL standard accepts. */
const metadata = [
  '169.254.169.254',
  '169.254.169.254.',
  '2852039166',
  '0xA9FEA9FE',
  '0xa9.0xfe.0xa9.0xfe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.16689662',
  '025177524776',
  '[::ffff:169.254.169.254]',
  '[::FFFF:a9fe:A9FE]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '１６９。２５４．169.254',
  '%31%36%39.254.169.254',
];

describe.each(metadata)('%j', (written) => {
  test.each([
    ['a host', 'network_call', { host: written }],
    ['a host with a port', 'network_call', { host: `${written}:80` }],
    ['a host with a user', 'network_call', { host: `me:pw@${written}` }],
    ['a URL', 'network_call', { host: `http://${written}/latest` }],
    ['the URL of a tool', 'tool_call', { url: `http://${written}/latest` }],
    ['the URL of a result', 'tool_result', { url: `HTTP:\\\\${written}:80\\x` }],
    ['a URL of another scheme', 'tool_call', { url: `redis://:pw@${written}:6379/0` }],
  ] as const)('is one address as %s', (_, type, members) => {
    const subject = subjectOf(action(type, members));
    expect([subject.host, subject.unclear]).toEqual(['169.254.169.254', null]);
  });
});

describe('what nobody can read', () => {
  test.each([
    '1.2.3.4.5',
    '256.1.1.1',
    'exa mple.com',
    '[fe80::1%25eth0]',
    '[::ffff:169.254.169.254%25lo]',
    'evil.com:99999',
    'evil.com%00.good.com',
    'a|b',
    '/var/run/docker.sock',
    `A${'.b'.repeat(300)}`,
    '  ',
    'http://',
  ])('is no host of a network call, and not clear: %j', (host) => {
    expect(subjectOf(action('network_call', { host }))).toMatchObject({
      host: null,
      unclear: { dimensions: ['hosts'], text: host.toLowerCase() },
    });
  });

  test.each([
    'not a url',
    'https://',
    'https://1.2.3.4.5/',
    'x:\\\\evil.com',
    'pg://good.com\\@evil.com',
    'blob:https://e.com/1',
  ])('nor of a tool: %j', (url) => {
    expect(subjectOf(action('tool_call', { url }))).toMatchObject({ host: null, unclear: { dimensions: ['hosts'] } });
  });

  test.each([
    '',
    '/a/b',
    '?x',
    '#x',
    './a',
    '..',
    'mailto:a@b.c',
    'data:,x',
    'file:///etc/passwd',
    'C:\\x',
    'sqlite:///x',
  ])('but what plainly has no host is clear: %j', (url) => {
    expect(subjectOf(action('tool_call', { url }))).toMatchObject({ host: null, unclear: null });
  });
});

test('a host is compared as the URL standard has it, whatever is sent', () => {
  const part = fc.constantFrom(
    '0x',
    '127',
    '1',
    '.',
    '0251',
    'a9',
    'ü',
    'xn--',
    'A',
    '-',
    '_',
    ':',
    '80',
    '[',
    ']',
    '%2e',
    '@',
    '。',
    'ß',
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
      const host = parts.join('');
      const read = subjectOf(action('network_call', { host })).host;
      const expected = browserHost(`http://${host}`);
      // A lone dot is a path.
      if (expected !== undefined && !/^\.{1,2}$/.test(host)) expect([host, read]).toEqual([host, expected]);
    }),
    { numRuns: 3000 },
  );
});

test.each([
  ['a host', (host: string) => action('network_call', { host })],
  ['a URL', (host: string) => action('tool_call', { url: `https://${host}/` })],
])('%s of eight thousand characters takes no longer than one of the longest name, give or take', (_what, made) => {
  const slowest = Array.from({ length: 8000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('');
  const longest = cpuMs(() => subjectOf(made(slowest.slice(0, 512))));
  expect(cpuMs(() => subjectOf(made(slowest)))).toBeLessThan(Math.max(longest, 1) * 50);
});

test.each([
  ['Example.COM', 'example.com'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['XN--MNCHEN-3YA.example', 'xn--mnchen-3ya.example'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['me@evil.com', 'evil.com'],
  ['ev\til.com', 'evil.com'],
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
  const timed = (host: string) => cpuMs(() => subjectOf(action('network_call', { host })), 1);
  timed('ä'.repeat(1000));
  const letters = Math.max(timed('ä'.repeat(200_000)), 5);
  expect(timed(`a${'\u0301'.repeat(200_000)}`)).toBeLessThan(letters * 50);
});
