import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Letter } from '@reeve/core';
import { MailError } from '@reeve/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import { MailRelay } from '../../../../../tests/harness/mail-relay.ts';
import type { Relay } from './relay.ts';
import { SmtpMailer } from './smtp-mailer.ts';

const token = 'q3Zr8sVxX0JmN5tLkP2wYbC7dHfGaE9uTiOoRe1SnM4';
const pass = 'correct horse battery staple';
const user = 'reeve';
const letter: Letter = {
  to: 'ada@example.com',
  subject: 'Reset your Reeve password',
  text: `Choose a new password:\n\nhttps://reeve.example.com/reset#token=${token}\n`,
  html: `<p><a href="https://reeve.example.com/reset#token=${token}">Choose a new password</a></p>\n`,
};
const patient = { connectMs: 20_000, greetingMs: 20_000, silenceMs: 20_000, totalMs: 30_000 };
/** For relays that hang: these tests check that the mailer leaves, not when. */
const hasty = { connectMs: 5_000, greetingMs: 300, silenceMs: 500, totalMs: 10_000 };

function relayTo(port: number, changes: Partial<Relay> = {}): Relay {
  const from = { name: 'Reeve', address: 'no-reply@localhost' };
  return {
    host: '127.0.0.1',
    port,
    implicitTls: false,
    tls: 'opportunistic',
    credentials: undefined,
    from,
    ...changes,
  };
}

function send(port: number, changes: Partial<Relay> = {}, sent: Partial<Letter> = {}): Promise<void> {
  return new SmtpMailer(relayTo(port, changes), patient).send({ ...letter, ...sent });
}

function sendHastily(port: number, changes: Partial<Relay> = {}): Promise<void> {
  return new SmtpMailer(relayTo(port, changes), hasty).send(letter);
}

/** The error that sending ends with. It holds no secret, however it is printed. */
async function failure(sending: Promise<void>): Promise<MailError> {
  const error: unknown = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MailError)) throw new Error(`not a MailError: ${inspect(error)}`);
  for (const secret of [token, pass, Buffer.from(pass).toString('base64'), credentialsOnTheWire]) {
    expect(inspect(error, { depth: 9 })).not.toContain(secret);
  }
  return error;
}

const credentialsOnTheWire = Buffer.from(`\0${user}\0${pass}`).toString('base64');

const folder = mkdtempSync(join(tmpdir(), 'reeve-mail-'));
let trusted: { key: string; cert: string };
beforeAll(() => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'pipe' });
  trusted = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  setDefaultCACertificates([...getCACertificates('default'), trusted.cert]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a letter', () => {
  test('arrives with both parts, from the sender and to the recipient', async () => {
    await using relay = await MailRelay.start();
    const mailer = new SmtpMailer(relayTo(relay.port));
    await mailer.send(letter);
    expect(mailer.delivers).toBe(true);
    expect(relay.letters).toEqual([
      expect.objectContaining({
        ...letter,
        from: 'no-reply@localhost',
        token,
        encrypted: false,
        user: undefined,
      }),
    ]);
    const headers = relay.letters[0]?.headers;
    expect(headers?.get('from')).toBe('Reeve <no-reply@localhost>');
    expect(headers?.get('to')).toBe('ada@example.com');
    expect(headers?.get('auto-submitted')).toBe('auto-generated');
    expect(headers?.get('message-id')).toMatch(/^<[^<>@]+@localhost>$/);
    expect(headers?.has('date')).toBe(true);
    await eventually(() => expect(relay.openConnections).toBe(0));
  });

  test('in plain ASCII has its link whole in the source of the message', async () => {
    await using relay = await MailRelay.start();
    await send(relay.port);
    expect(relay.letters[0]?.raw).toContain(`\r\nhttps://reeve.example.com/reset#token=${token}\r\n`);
    expect(relay.letters[0]?.raw).toContain(`href="https://reeve.example.com/reset#token=${token}"`);
  });

  test('beyond ASCII, in its subject or its parts, arrives as it was written', async () => {
    await using relay = await MailRelay.start();
    const sent = { subject: 'Zoë lädt Sie ein: 林さん, ваш пароль 🔑', text: 'Zoë, 林\n', html: '<p>Zoë, 林</p>\n' };
    await send(relay.port, {}, sent);
    expect(relay.letters).toEqual([expect.objectContaining(sent)]);
    expect(relay.letters[0]?.raw).toMatch(/^[\r\n\t\x20-\x7e]*$/);
  });

  test('with lines of any length, leading dots and bare line ends arrives as it was written, in lines SMTP allows', async () => {
    await using relay = await MailRelay.start();
    const sent = {
      text: `.\n..\n.a\n${'x'.repeat(5_000)}\n${'word '.repeat(500)}\nFrom here\n`,
      html: `<p>${'y'.repeat(989)}\n${'z'.repeat(20_000)}</p>\n`,
    };
    await send(relay.port, {}, sent);
    expect(relay.letters).toEqual([expect.objectContaining(sent)]);
    for (const line of relay.letters[0]?.raw.split('\r\n') ?? []) expect(line.length).toBeLessThanOrEqual(998);
  });

  test('to a mailbox beyond ASCII goes out by SMTPUTF8', async () => {
    await using relay = await MailRelay.start();
    await send(relay.port, {}, { to: 'jörg@example.com' });
    await send(relay.port, {}, { to: '用户@例え.jp' });
    expect(relay.letters.map(({ to }) => to)).toEqual(['jörg@example.com', '用户@例え.jp']);
    expect(relay.letters.map(({ headers }) => headers.get('to'))).toEqual(['jörg@example.com', '用户@例え.jp']);
  });

  test('to a domain beyond ASCII needs no SMTPUTF8', async () => {
    await using relay = await MailRelay.start({ utf8: false });
    await send(relay.port, {}, { to: 'ada@bücher.example' });
    expect(relay.letters[0]?.headers.get('to')).toBe('ada@xn--bcher-kva.example');
  });

  test('has the name of its sender quoted or encoded as it needs', async () => {
    await using relay = await MailRelay.start();
    for (const name of ['Reeve, "the" gateway', 'Zoë <x@evil.example>', '']) {
      await send(relay.port, { from: { name, address: 'no-reply@localhost' } });
    }
    expect(relay.letters.map(({ headers }) => headers.get('from'))).toEqual([
      '"Reeve, \\"the\\" gateway" <no-reply@localhost>',
      expect.stringMatching(/^"?Zoë <x@evil.example>"? <no-reply@localhost>$/),
      'no-reply@localhost',
    ]);
    for (const { from } of relay.letters) expect(from).toBe('no-reply@localhost');
  });

  test.each([
    ['ada@example.com\r\nRCPT TO:<eve@evil.example>', {}],
    ['ada@example.com\nBcc: eve@evil.example', {}],
    ['ada@example.com>\r\nDATA', {}],
    ['ada@example.com, eve@evil.example', {}],
    ['Ada <ada@example.com>', {}],
    ['ada@ex%61mple.com', {}],
    ['ada', {}],
    ['', {}],
    ['ada@example.com', { subject: 'a\r\nBcc: eve@evil.example' }],
    ['ada@example.com', { subject: 'a\u2028b' }],
  ])('to %j with %j is refused for good, before anyone is spoken to', async (to, changes) => {
    await using relay = await MailRelay.start();
    expect(await failure(send(relay.port, {}, { to, ...changes }))).toMatchObject({ temporary: false });
    expect(relay.connections).toBe(0);
  });
});

describe('a relay that wants to know who sends', () => {
  test('is told, over an encrypted connection where it offers one', async () => {
    await using relay = await MailRelay.start({ auth: { user, pass }, starttls: true });
    await send(relay.port, { credentials: { user, pass } });
    expect(relay.letters).toEqual([expect.objectContaining({ to: 'ada@example.com', user, encrypted: true })]);
  });

  test('on the loopback is told over an open connection, too', async () => {
    await using relay = await MailRelay.start({ auth: { user, pass } });
    await send(relay.port, { credentials: { user, pass } });
    expect(relay.letters).toEqual([expect.objectContaining({ user, encrypted: false })]);
  });

  test('and is on another host is told nothing over an open connection, unless TLS is switched off', async () => {
    // An address outside the loopback range that still leads to this host.
    const elsewhere = { host: '0.0.0.0', credentials: { user, pass } };
    await using relay = await MailRelay.start({ auth: { user, pass } });
    const error = await failure(send(relay.port, elsewhere));
    expect(error).toMatchObject({ temporary: true, message: expect.stringContaining('not sent unencrypted') });
    expect(relay.letters).toEqual([]);
    await send(relay.port, { ...elsewhere, tls: 'off' });
    expect(relay.letters).toEqual([expect.objectContaining({ user, encrypted: false })]);
  });

  test('and does not know this one is not tried again', async () => {
    await using relay = await MailRelay.start({ auth: { user, pass: 'another password' }, starttls: true });
    const error = await failure(send(relay.port, { credentials: { user, pass } }));
    expect(error).toMatchObject({
      temporary: false,
      message: expect.stringMatching(/127\.0\.0\.1:\d+ refuses the user name or password: 535 .*authentication failed/),
    });
    expect(relay.letters).toEqual([]);
  });

  test('and is told nothing refuses the letter', async () => {
    await using relay = await MailRelay.start({ auth: { user, pass } });
    expect(await failure(send(relay.port))).toMatchObject({ message: expect.stringContaining('530') });
    expect(relay.letters).toEqual([]);
  });

  test('is told nothing where it does not ask', async () => {
    await using relay = await MailRelay.start();
    await send(relay.port, { credentials: { user, pass } });
    expect(relay.letters).toEqual([expect.objectContaining({ user: undefined })]);
  });
});

describe('encryption', () => {
  test('that is required and verified', async () => {
    await using relay = await MailRelay.start({ starttls: trusted });
    await send(relay.port, { tls: 'required' });
    await send(relay.port, { tls: 'required', host: 'localhost' });
    expect(relay.letters).toEqual([
      expect.objectContaining({ encrypted: true }),
      expect.objectContaining({ encrypted: true }),
    ]);
  });

  test('that is required and not offered: nothing is sent', async () => {
    await using relay = await MailRelay.start({ auth: { user, pass } });
    const error = await failure(send(relay.port, { tls: 'required', credentials: { user, pass } }));
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ offers no STARTTLS, and SVC_SMTP_TLS is required/);
    expect(relay.letters).toEqual([]);
    expect(relay.connections).toBe(1);
  });

  test('that is required, with a certificate that nobody vouches for: nothing is sent', async () => {
    await using relay = await MailRelay.start({ starttls: true });
    const error = await failure(send(relay.port, { tls: 'required' }));
    expect(error.message).toContain('has a certificate that is not accepted, and SVC_SMTP_TLS is required');
    expect(relay.letters).toEqual([]);
  });

  test('that is required, with the certificate of another host: nothing is sent', async () => {
    await using relay = await MailRelay.start({ starttls: trusted });
    const error = await failure(send(relay.port, { tls: 'required', host: '0.0.0.0' }));
    expect(error.message).toContain('has a certificate that is not accepted');
    expect(relay.letters).toEqual([]);
  });

  test('that is opportunistic takes what there is: any certificate, or none', async () => {
    await using encrypting = await MailRelay.start({ starttls: true });
    await using open = await MailRelay.start();
    await send(encrypting.port, { tls: 'opportunistic' });
    await send(open.port, { tls: 'opportunistic' });
    expect(encrypting.letters[0]?.encrypted).toBe(true);
    expect(open.letters[0]?.encrypted).toBe(false);
  });

  test('that is off is not used where it is offered', async () => {
    await using relay = await MailRelay.start({ starttls: true });
    await send(relay.port, { tls: 'off' });
    expect(relay.letters[0]?.encrypted).toBe(false);
  });

  test('from the first byte on', async () => {
    await using relay = await MailRelay.start({ implicitTls: true, starttls: trusted, auth: { user, pass } });
    await send(relay.port, { implicitTls: true, tls: 'required', credentials: { user, pass } });
    expect(relay.letters).toEqual([expect.objectContaining({ encrypted: true, user })]);
    await using unknown = await MailRelay.start({ implicitTls: true });
    const error = await failure(send(unknown.port, { implicitTls: true, tls: 'required' }));
    expect(error).toMatchObject({ temporary: true, message: expect.stringContaining('certificate') });
    await send(unknown.port, { implicitTls: true });
    expect(unknown.letters).toHaveLength(1);
  });

  test('that a relay speaks and was not asked for, and the other way round, fails in time', async () => {
    await using implicit = await MailRelay.start({ implicitTls: true });
    await using plain = await MailRelay.start();
    expect(await failure(sendHastily(implicit.port))).toMatchObject({ temporary: true });
    expect(await failure(sendHastily(plain.port, { implicitTls: true }))).toMatchObject({ temporary: true });
  });
});

describe('a relay that fails', () => {
  test('for good, by refusing the recipient', async () => {
    await using relay = await MailRelay.start({ behaviour: 'refuse_recipient' });
    expect(await failure(send(relay.port))).toMatchObject({
      temporary: false,
      message: expect.stringMatching(/refuses the recipient: 550 .*no such mailbox here/),
    });
  });

  test('for now, by being busy; the same letter is taken later', async () => {
    await using relay = await MailRelay.start({ behaviour: 'busy' });
    expect(await failure(send(relay.port))).toMatchObject({
      temporary: true,
      message: expect.stringMatching(/refuses the recipient: 451 .*try again later/),
    });
    relay.behaviour = 'accept';
    await send(relay.port);
    expect(relay.letters).toHaveLength(1);
  });

  test.each(['hang_before_greeting', 'hang_after_data', 'close_in_session'] as const)(
    'for now, by what is called %s, and no connection stays open',
    async (behaviour) => {
      await using relay = await MailRelay.start({ behaviour });
      for (let attempt = 0; attempt < 3; attempt++) {
        expect(await failure(sendHastily(relay.port))).toMatchObject({ temporary: true });
      }
      expect(relay.connections).toBe(3);
      expect(relay.letters).toEqual([]);
      await eventually(() => expect(relay.openConnections).toBe(0));
    },
  );

  test('by hanging over an encrypted connection leaves no connection open either', async () => {
    await using relay = await MailRelay.start({ behaviour: 'hang_after_data', starttls: true });
    expect(await failure(sendHastily(relay.port))).toMatchObject({ temporary: true });
    await eventually(() => expect(relay.openConnections).toBe(0));
  });

  test('for now, by not being there, or not being known', async () => {
    const gone = await MailRelay.start();
    const { port } = gone;
    await gone.close();
    for (const host of ['127.0.0.1', 'localhost', 'relay.invalid']) {
      const error = await failure(send(port, { host }));
      expect(error.temporary).toBe(true);
      expect(error.message).toMatch(/cannot be used: \S+|does not answer in time/);
    }
  });
});

/** A relay that answers each line as told, for answers that no good relay gives. */
async function rawRelay(answer: (line: string, socket: Socket) => string | undefined, greeting = '220 relay\r\n') {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    // Writes as long as the other side reads; otherwise a side that has only ended its half would go unnoticed.
    socket.on('end', () => {
      const timer = setInterval(() => socket.write('250 still here\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    socket.write(greeting);
    const lines = createInterface(socket);
    // An interface passes on what goes wrong with its input, and nobody else would hear it.
    lines.on('error', () => undefined);
    lines.on('line', (line) => {
      const text = answer(line, socket);
      if (text !== undefined && socket.writable) socket.write(text);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    open: () => [...sockets].filter((socket) => !socket.destroyed).length,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers as a relay does, unless `special` answers first. */
function usual(special: (line: string) => string | undefined): (line: string) => string | undefined {
  let inData = false;
  return (line) => {
    const told = special(line);
    if (told !== undefined) return told;
    if (inData) {
      if (line !== '.') return undefined;
      inData = false;
      return '250 taken\r\n';
    }
    if (line.startsWith('EHLO')) return '250-relay\r\n250 AUTH PLAIN\r\n';
    if (line.startsWith('AUTH')) return '235 welcome\r\n';
    if (line === 'DATA') inData = true;
    return line === 'DATA' ? '354 go on\r\n' : '250 fine\r\n';
  };
}

describe('a strange relay', () => {
  test.each([
    ['its greeting', '554 go away\r\n', () => undefined, false],
    ['its greeting, for now', '421 too many connections\r\n', () => undefined, true],
    ['MAIL FROM', '220 relay\r\n', (line: string) => (line.startsWith('MAIL') ? '553 who?\r\n' : undefined), false],
    ['the letter', '220 relay\r\n', (line: string) => (line === '.' ? '554 5.7.1 spam\r\n' : undefined), false],
    ['the letter, for now', '220 relay\r\n', (line: string) => (line === '.' ? '452 full\r\n' : undefined), true],
    ['its own line', '220 relay\r\n', (line: string) => (line.startsWith('RCPT') ? 'what?\r\n' : undefined), true],
  ])('refuses at %s', async (_, greeting, special, temporary) => {
    await using relay = await rawRelay(usual(special), greeting);
    expect(await failure(send(relay.port))).toMatchObject({ temporary });
    await eventually(() => expect(relay.open()).toBe(0));
  });

  test('that quotes what it was sent gets no secret into the error', async () => {
    const quoting = [
      (line: string) => (line.startsWith('AUTH') ? `535 bad: ${line}\r\n` : undefined),
      (line: string) => (line.startsWith('AUTH') ? `535 no password ${pass} here\r\n` : undefined),
      (line: string) => (line.includes('#token=') ? `554-blocked address\r\n554 ${line}\r\n` : undefined),
      (line: string) =>
        line.includes('#token=') ? `554-${line.slice(0, 60)}\r\n554 ${line.slice(60)}\r\n` : undefined,
    ];
    for (const special of quoting) {
      let pending = '';
      await using relay = await rawRelay(
        usual((line) => {
          pending = special(line) ?? pending;
          if (line.startsWith('AUTH')) return special(line);
          return line === '.' ? pending : undefined;
        }),
      );
      const error = await failure(send(relay.port, { credentials: { user, pass } }));
      expect(error).toMatchObject({ temporary: false, message: expect.stringMatching(/: 5\d\d/) });
      for (let at = 0; at + 10 <= token.length; at++) expect(error.message).not.toContain(token.slice(at, at + 10));
    }
  });

  test('whose answer is long or has line ends and controls makes one short line of it', async () => {
    const long = `550-first\r\n550-\u001b[31mred\u0007\r\n550 ${'so long '.repeat(200)}\r\n`;
    await using relay = await rawRelay(usual((line) => (line.startsWith('RCPT') ? long : undefined)));
    const { message } = await failure(send(relay.port));
    expect(message).toMatch(/^[\x20-\x7e…]{100,500}$/);
  });

  test.each([
    ['accepts the connection and does no more', {}, { greetingMs: 300 }, ''],
    ['accepts the connection and never speaks TLS', { implicitTls: true }, { connectMs: 300 }, ''],
    ['greets and does no more', {}, { silenceMs: 300 }, '220 relay\r\n'],
  ])('that %s is left after a while', async (_, changes, timeouts, greeting) => {
    await using relay = await rawRelay(() => undefined, greeting);
    const mailer = new SmtpMailer(relayTo(relay.port, changes), { ...patient, ...timeouts });
    expect(await failure(mailer.send(letter))).toMatchObject({
      temporary: true,
      message: expect.stringContaining('does not answer in time'),
    });
    await eventually(() => expect(relay.open()).toBe(0));
  });

  test('that hangs up without a word has failed at once', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endless = { connectMs: 1e6, greetingMs: 1e6, silenceMs: 1e6, totalMs: 1e6 };
    const mailer = new SmtpMailer(relayTo((server.address() as AddressInfo).port), endless);
    expect(await failure(mailer.send(letter))).toMatchObject({ temporary: true });
    server.close();
  });

  test('that keeps talking without getting anywhere is left after a while', async () => {
    let timer: NodeJS.Timeout | undefined;
    await using relay = await rawRelay((_, socket) => {
      timer ??= setInterval(() => socket.write('250-still here\r\n'), 50);
      return undefined;
    });
    const short = { ...patient, totalMs: 1_000 };
    const error = await failure(new SmtpMailer(relayTo(relay.port), short).send(letter));
    clearInterval(timer);
    expect(error).toMatchObject({ temporary: true });
    await eventually(() => expect(relay.open()).toBe(0));
  });

  test('that refuses STARTTLS after offering it is spoken to openly only where that is allowed', async () => {
    const offering = usual((line) => {
      if (line.startsWith('EHLO')) return '250-relay\r\n250 STARTTLS\r\n';
      return line === 'STARTTLS' ? '454 no TLS today\r\n' : undefined;
    });
    await using relay = await rawRelay(offering);
    await send(relay.port);
    const error = await failure(send(relay.port, { tls: 'required' }));
    expect(error).toMatchObject({ temporary: true, message: expect.stringContaining('454 no TLS today') });
  });

  test('that takes a letter and says no goodbye has taken it all the same', async () => {
    await using relay = await rawRelay(usual((line) => (line === 'QUIT' ? '' : undefined)));
    await send(relay.port);
    await eventually(() => expect(relay.open()).toBe(0));
  });
});
