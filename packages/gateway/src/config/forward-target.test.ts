import { expect, test } from 'vitest';
import { forwardHeaders, parseForwardTargets } from './forward-target.ts';

test('targets are told apart by where they are, and never by their credentials', () => {
  const [otlp, https, syslog, file] = parseForwardTargets(
    'otlp:https://u:p%40ss@c.example/?key=q#from=start, https://h.example/in/hook?t=1,syslog+tls://[::1],file:/a/b.ndjson#from=start',
  );
  expect(otlp).toMatchObject({ kind: 'otlp', name: 'otlp:https://c.example', key: 'otlp:https://c.example' });
  expect(otlp).toMatchObject({ fromStart: true, authorization: `Basic ${Buffer.from('u:p@ss').toString('base64')}` });
  expect(otlp?.kind === 'otlp' && otlp.url.href).toBe('https://c.example/v1/logs?key=q');
  expect(https).toMatchObject({ kind: 'https', name: 'https://h.example', fromStart: false, authorization: undefined });
  expect(https?.key).toMatch(/^https:\/\/h\.example [0-9a-f]{16}$/);
  expect(syslog).toMatchObject({
    kind: 'syslog',
    host: '::1',
    port: 6514,
    isTls: true,
    name: 'syslog+tls://[::1]:6514',
  });
  expect(file).toMatchObject({ kind: 'file', path: '/a/b.ndjson', key: 'file:/a/b.ndjson', fromStart: true });
});

test('a changed password or query leaves the place of a target as it is', () => {
  const keyOf = (text: string) => parseForwardTargets(text)[0]?.key;
  expect(keyOf('https://u:old@h/x?token=a')).toBe(keyOf('https://u:new@h/x?token=b#from=start'));
  expect(keyOf('https://h/x')).not.toBe(keyOf('https://h/y'));
  expect(keyOf('otlp:http://h:4318')).toBe(keyOf('otlp:http://h:4318/v1/logs'));
});

test.each([
  ['', 'otlp:URL'],
  ['ftp://u:s3cret@h', 'otlp:URL'],
  ['http://h.example/x', 'http:// is for this machine only'],
  ['otlp:h:4318', 'otlp:URL with http:// or https://'],
  ['otlp:', 'otlp:URL'],
  ['syslog+tcp://u:s3cret@h:514', 'nothing else in the URL'],
  ['syslog+tcp://h:514/path', 'nothing else in the URL'],
  ['syslog+tcp://', 'syslog+tcp://host:port'],
  ['https://h/#s3cret', 'after a "#" only from=start'],
  ['file:', 'file:PATH'],
  ['file:/var/log/', 'file:PATH'],
  ['https://h/x?a=s3cret,https://u@h/x?b', 'each target once'],
  ['file:/a,file:/a#from=start', 'each target once'],
  [Array.from({ length: 17 }, (_, i) => `file:/a${i}`).join(), 'up to 16 targets'],
])('%s is refused, and what is said quotes nothing', (text, said) => {
  let message = '';
  try {
    parseForwardTargets(text);
  } catch (error) {
    message = error instanceof Error ? error.message : '';
  }
  expect(message).toContain(said);
  expect(message).not.toContain('s3cret');
});

test('headers are pairs of names and values', () => {
  expect(forwardHeaders('Api-Key=a%2Cb, x=1=2')).toEqual({ 'api-key': 'a,b', x: '1=2' });
  for (const text of ['', 'x', 'x=', 'a b=c', 'x=%zz', 'x=%0d%0ay', 'content-type=text/plain', 'host=h']) {
    expect(() => forwardHeaders(text), text).toThrow('headers as name=value');
  }
});
