import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { isLoopback } from '@reeve/contract/host-name';
import { MailError } from '@reeve/core';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import type { Relay } from './relay.ts';
import { nameOf } from './relay.ts';

export interface SmtpTimeouts {
  readonly connectMs: number;
  readonly greetingMs: number;
  /** How long the relay may be silent after its greeting. */
  readonly silenceMs: number;
  /** From the connection to the relay's last word. */
  readonly totalMs: number;
}

export interface Envelope {
  readonly from: string;
  readonly to: string;
}

const farewellMs = 1_000;

/**
 * Sends one letter over one connection, which is closed in every case. We own the socket, not the library: the library
 * only ends its half, and a relay that hangs would keep the other half open forever.
 */
export async function deliver(
  relay: Relay,
  envelope: Envelope,
  message: Buffer,
  timeouts: SmtpTimeouts,
): Promise<void> {
  const socket = await open(relay, timeouts.connectMs);
  const connection = new SMTPConnection({
    connection: socket,
    host: relay.host,
    port: relay.port,
    secure: relay.implicitTls,
    secured: relay.implicitTls,
    requireTLS: relay.tls === 'required',
    opportunisticTLS: relay.tls === 'opportunistic',
    ignoreTLS: relay.tls === 'off',
    tls: { rejectUnauthorized: relay.tls === 'required' },
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
  });
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  connection.on('error', breakOff);
  connection.on('end', () => breakOff(new Error('the relay has closed the connection')));
  const timer = setTimeout(() => breakOff(new Error('the relay takes too long')), timeouts.totalMs);
  const step = (run: (done: (error?: Error | null) => void) => void) =>
    Promise.race([broken, new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())))]);
  try {
    await step((done) => connection.connect(done));
    refuseToSpeakOpenly(relay, connection.secure);
    const { credentials } = relay;
    if (credentials !== undefined && offersLogin(connection)) {
      await step((done) => connection.login({ credentials: { ...credentials } }, done));
    }
    await step((done) => connection.send({ from: envelope.from, to: [envelope.to] }, message, done));
    connection.quit();
    await Promise.race([broken.catch(() => undefined), sleep(farewellMs, undefined, { ref: false })]);
  } finally {
    clearTimeout(timer);
    connection.close();
    socket.destroy();
  }
}

async function open({ host, port, implicitTls, tls }: Relay, withinMs: number): Promise<Socket> {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = implicitTls
    ? connectTls({ host, port, ...name, rejectUnauthorized: tls === 'required' })
    : connect({ host, port });
  // An error while nobody listens must not end the process. The next read or write meets it.
  socket.on('error', () => undefined);
  try {
    await once(socket, implicitTls ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(withinMs) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * A relay that offers no authentication cannot be logged in to. If it wants a login all the same, it refuses the
 * letter.
 */
function offersLogin(connection: SMTPConnection): boolean {
  return 'allowsAuth' in connection && connection.allowsAuth;
}

function refuseToSpeakOpenly(relay: Relay, encrypted: boolean): void {
  if (encrypted) return;
  if (relay.tls === 'required') {
    throw new MailError(`the mail relay ${nameOf(relay)} is not encrypted, and SVC_SMTP_TLS is required`, true);
  }
  if (relay.credentials !== undefined && relay.tls !== 'off' && !isLoopback(relay.host)) {
    throw new MailError(
      `the mail relay ${nameOf(relay)} offers no STARTTLS, and the password is not sent unencrypted; set SVC_SMTP_TLS to off to send it all the same`,
      true,
    );
  }
}
