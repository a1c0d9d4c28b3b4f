import { pino } from 'pino';
import { expect, test } from 'vitest';
import { parseNatsUrls } from '../config/nats-url.ts';
import { warnOfPlainNats } from './warn-of-plain-nats.ts';

function warnings(urls: string): string[] {
  const said: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => said.push(line) });
  warnOfPlainNats(parseNatsUrls(urls), logger);
  return said;
}

test('NATS over a network without TLS is warned of once, by the names of the servers alone', () => {
  const [warning = '', ...others] = warnings('nats://u:secret@a.example,tls://u:secret@b,nats://u:secret@[fd00::5]:1');
  expect(others).toEqual([]);
  expect(JSON.parse(warning)).toMatchObject({ level: 40, servers: ['a.example:4222', '[fd00::5]:1'] });
  expect(warning).toContain('SVC_NATS_URL');
  expect(warning).toContain('Use tls://');
  expect(warning).not.toContain('secret');
});

test.each(['tls://a.example', 'nats://127.0.0.2', 'nats://[::1]:4222', 'nats://localhost,tls://a.example'])(
  '%s is not',
  (urls) => {
    expect(warnings(urls)).toEqual([]);
  },
);
