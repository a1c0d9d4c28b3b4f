import { isLoopback } from '@reeve/contract/host-name';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { MailRelay } from '../../../../../tests/harness/mail-relay.ts';
import { loadConfig } from '../../config/load-config.ts';
import { makeMailer } from './make-mailer.ts';
import { relayOf } from './relay.ts';

const letter = { to: 'ada@example.com', subject: 'Reset', text: 'see #token=s3cr3t', html: '<p>see #token=s3cr3t</p>' };

const configOf = (env: Record<string, string>) => loadConfig({ flags: {}, env }).config;

/** The mailer for these variables, and what was logged. */
function made(env: Record<string, string>) {
  const lines: string[] = [];
  const logger = pino({ level: 'trace', base: null }, { write: (line: string) => lines.push(line) });
  return { mailer: makeMailer(configOf(env), logger), log: () => lines.join('') };
}

describe('without a relay', () => {
  test('recipient and subject are logged, and nothing of what the letter says', async () => {
    const { mailer, log } = made({});
    expect(mailer.delivers).toBe(false);
    expect(log()).toBe('');
    await mailer.send(letter);
    expect(JSON.parse(log())).toMatchObject({ level: 30, to: 'ada@example.com', subject: 'Reset' });
    expect(log()).not.toContain('s3cr3t');
    expect(log()).not.toContain('see');
  });

  test.each([
    ['SVC_SMTP_FROM', { SVC_SMTP_FROM: 'not an address' }],
    ['SVC_SMTP_FROM', { SVC_SMTP_FROM: 'a@example.com\r\nBcc: b@example.com' }],
    ['SVC_SMTP_HOST', { SVC_SMTP_HOST: 'smtp://user:pa55@mail.example.com' }],
    ['SVC_SMTP_HOST', { SVC_SMTP_HOST: 'mail.example.com:587' }],
    ['SVC_SMTP_HOST', { SVC_SMTP_HOST: 'mail example com' }],
    ['SVC_SMTP_PASS', { SVC_SMTP_USER: 'reeve' }],
    ['SVC_SMTP_USER', { SVC_SMTP_USER: 'a\nb', SVC_SMTP_PASS: 'pa55' }],
    ['SVC_SMTP_PORT: the value given is not accepted; accepted: a whole number', { SVC_SMTP_PORT: '99999' }],
    ['SVC_SMTP_PORT: the value given is not accepted; accepted: a whole number', { SVC_SMTP_PORT: 'pa55' }],
    ['SVC_SMTP_TLS: the value given is not accepted; accepted: required, ', { SVC_SMTP_TLS: 'pa55' }],
  ])('that can be set up, a warning names %s, and letters are logged', async (variable, env) => {
    const { mailer, log } = made({ SVC_SMTP_HOST: 'mail.example.com', SVC_SMTP_FROM: 'a@example.com', ...env });
    expect(mailer.delivers).toBe(false);
    expect(JSON.parse(log())).toMatchObject({ level: 40, msg: expect.stringContaining(variable) });
    await mailer.send(letter);
    expect(log()).toContain('ada@example.com');
    expect(log()).not.toMatch(/pa55|s3cr3t/);
  });
});

describe('without a host', () => {
  test.each([
    ['SVC_SMTP_PORT', { SVC_SMTP_PORT: 'abc' }],
    ['SVC_SMTP_TLS', { SVC_SMTP_TLS: 'banana' }],
    ['SVC_SMTP_FROM', { SVC_SMTP_FROM: 'not an address' }],
  ])('a wrong %s is warned of, and changes nothing', (variable, env) => {
    const { mailer, log } = made(env);
    expect(mailer.delivers).toBe(false);
    expect(JSON.parse(log())).toMatchObject({ level: 40, msg: expect.stringContaining(variable) });
  });

  test('settings that would do are not spoken of', () => {
    expect(made({ SVC_SMTP_PORT: '25', SVC_SMTP_TLS: 'off', SVC_SMTP_FROM: 'a@example.com' }).log()).toBe('');
  });
});

describe('with a relay', () => {
  test('letters are sent, by default from a placeholder at the local host, and nothing is logged', async () => {
    await using relay = await MailRelay.start();
    const { mailer, log } = made({ SVC_SMTP_HOST: '127.0.0.1', SVC_SMTP_PORT: String(relay.port) });
    expect(mailer.delivers).toBe(true);
    await mailer.send(letter);
    expect(relay.letters).toEqual([
      expect.objectContaining({ ...letter, from: 'no-reply@localhost', token: 's3cr3t' }),
    ]);
    expect(relay.letters[0]?.headers.get('from')).toBe('Reeve <no-reply@localhost>');
    expect(log()).toBe('');
  });

  test('user, password and sender are used', async () => {
    await using relay = await MailRelay.start({ auth: { user: 'reeve', pass: 'pa55' }, starttls: true });
    const { mailer, log } = made({
      SVC_SMTP_HOST: 'localhost',
      SVC_SMTP_PORT: String(relay.port),
      SVC_SMTP_USER: 'reeve',
      SVC_SMTP_PASS: 'pa55',
      SVC_SMTP_FROM: 'Acme <agents@acme.example>',
    });
    await mailer.send(letter);
    expect(relay.letters).toEqual([
      expect.objectContaining({ from: 'agents@acme.example', user: 'reeve', encrypted: true }),
    ]);
    expect(log()).toBe('');
  });

  test('a password alone logs nobody in', () => {
    expect(relayOf(configOf({ SVC_SMTP_HOST: 'localhost', SVC_SMTP_PASS: 'pa55' })).credentials).toBeUndefined();
  });

  test('on another host: no sender of its own and no encryption are warned of', () => {
    expect(made({ SVC_SMTP_HOST: 'mail.example.com' }).log()).toContain('SVC_SMTP_FROM');
    const { log } = made({ SVC_SMTP_HOST: '192.0.2.1', SVC_SMTP_FROM: 'a@example.com', SVC_SMTP_TLS: 'off' });
    expect(JSON.parse(log())).toMatchObject({ level: 40, msg: expect.stringContaining('SVC_SMTP_TLS is off') });
    expect(made({ SVC_SMTP_HOST: 'mail.example.com', SVC_SMTP_FROM: 'a@example.com' }).log()).toBe('');
  });
});

describe('encryption', () => {
  test.each([
    ['localhost', 'opportunistic'],
    ['LOCALHOST', 'opportunistic'],
    ['127.0.0.1', 'opportunistic'],
    ['127.255.0.9', 'opportunistic'],
    ['::1', 'opportunistic'],
    ['[::1]', 'opportunistic'],
    ['::ffff:127.0.0.1', 'opportunistic'],
    ['mail.example.com', 'required'],
    ['localhost.example.com', 'required'],
    ['128.0.0.1', 'required'],
    ['0.0.0.0', 'required'],
    ['::2', 'required'],
  ])('of a relay at %s is %s unless set', (host, tls) => {
    expect(relayOf(configOf({ SVC_SMTP_HOST: host })).tls).toBe(tls);
    for (const set of ['required', 'opportunistic', 'off']) {
      expect(relayOf(configOf({ SVC_SMTP_HOST: host, SVC_SMTP_TLS: set })).tls).toBe(set);
    }
    expect(isLoopback(host.replace(/^\[|\]$/g, ''))).toBe(tls === 'opportunistic');
  });

  test('is there from the start on port 465, and by STARTTLS on the usual one', () => {
    const host = { SVC_SMTP_HOST: 'mail.example.com' };
    expect(relayOf(configOf(host))).toMatchObject({ port: 587, implicitTls: false });
    expect(relayOf(configOf({ ...host, SVC_SMTP_PORT: '465' }))).toMatchObject({ port: 465, implicitTls: true });
  });
});

test('the public URL is one that links can start with', () => {
  for (const url of ['https://reeve.example.com', 'http://127.0.0.1:8080/', 'https://example.com/reeve']) {
    expect(configOf({ SVC_PUBLIC_URL: url }).publicUrl).toBe(url);
  }
  for (const url of ['reeve', 'ftp://a', 'https://a?b', 'https://a#b', 'https://a:b@c', 'https://a/ b']) {
    expect(() => configOf({ SVC_PUBLIC_URL: url }), url).toThrow(/SVC_PUBLIC_URL: .* without user name, query/);
  }
});
