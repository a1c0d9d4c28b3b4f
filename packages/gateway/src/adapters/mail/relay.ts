import { isIP, isIPv6 } from 'node:net';
import { isLoopback } from '@reeve/contract/host-name';
import { messageOf } from '@reeve/core';
import type { Parse } from '../../config/parsers.ts';
import { choice, wholeNumber } from '../../config/parsers.ts';
import type { Config } from '../../config/settings.ts';
import type { Mailbox } from './mailbox.ts';
import { hasControls, parseMailbox } from './mailbox.ts';

export interface Relay {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on, rather than STARTTLS. */
  readonly implicitTls: boolean;
  /** `required` also verifies the certificate; `opportunistic` encrypts where the relay offers it. */
  readonly tls: 'required' | 'opportunistic' | 'off';
  readonly credentials: Credentials | undefined;
  readonly from: Mailbox;
}

export interface Credentials {
  readonly user: string;
  readonly pass: string;
}

export type MailSettings = Pick<Config, 'smtpHost' | 'smtpPort' | 'smtpUser' | 'smtpPass' | 'smtpFrom' | 'smtpTls'>;

const placeholder: Mailbox = { name: 'Reeve', address: 'no-reply@localhost' };
const implicitTlsPort = 465;
const protection = choice('required', 'opportunistic', 'off');

/** Throws if the settings describe no relay. The message names the wrong setting, never its value. */
export function relayOf(settings: MailSettings): Relay {
  const host = (settings.smtpHost ?? '').replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && !/^[a-z\d_]([a-z\d_.-]*[a-z\d_])?\.?$/i.test(host)) {
    throw new Error('SVC_SMTP_HOST must be a host name or an address alone; the port goes into SVC_SMTP_PORT');
  }
  const from = settings.smtpFrom === undefined ? placeholder : parseMailbox(settings.smtpFrom);
  if (from === undefined) {
    throw new Error('SVC_SMTP_FROM must be one address, as in no-reply@example.com or Reeve <no-reply@example.com>');
  }
  const port = read('SVC_SMTP_PORT', settings.smtpPort, wholeNumber(1, 65_535));
  return {
    host,
    port,
    implicitTls: port === implicitTlsPort,
    tls: read('SVC_SMTP_TLS', settings.smtpTls ?? (isLoopback(host) ? 'opportunistic' : 'required'), protection),
    credentials: credentialsOf(settings),
    from,
  };
}

function read<Value>(variable: string, text: string, parse: Parse<Value>): Value {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`${variable}: the value given is not accepted; accepted: ${messageOf(error)}`, { cause: error });
  }
}

function credentialsOf({ smtpUser: user, smtpPass: pass }: MailSettings): Credentials | undefined {
  if (user === undefined) return undefined;
  if (pass === undefined || pass === '') throw new Error('SVC_SMTP_USER is set and SVC_SMTP_PASS is not');
  if (hasControls(user)) throw new Error('SVC_SMTP_USER must be one line');
  return { user, pass };
}

export function nameOf({ host, port }: Relay): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
