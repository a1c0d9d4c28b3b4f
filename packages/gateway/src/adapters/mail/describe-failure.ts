import type { Letter } from '@reeve/core';
import { MailError } from '@reeve/core';
import type { Relay } from './relay.ts';
import { nameOf } from './relay.ts';

/** What the library reports of a failure: the relay's answer and the command it answered, if there was one. */
interface SmtpFailure {
  readonly message?: string;
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/**
 * A failure in words that may be logged. The relay's answer is quoted, because it helps an operator most. Some relays
 * quote what they were sent, so secrets are removed. The error itself is not kept as a cause.
 */
export function describeFailure(error: unknown, relay: Relay, letter: Letter): MailError {
  if (error instanceof MailError) return error;
  const failure = error as SmtpFailure;
  const name = `the mail relay ${nameOf(relay)}`;
  const answer = failure.response === undefined ? '' : quote(failure.response, secretsOf(relay, letter));
  const command = failure.command ?? '';
  if (command === 'STARTTLS' && answer !== '') {
    return new MailError(`${name} offers no STARTTLS, and SVC_SMTP_TLS is required: it answers ${answer}`, true);
  }
  // Only an answer of the relay is final; any other failure may pass.
  const temporary = !(failure.responseCode !== undefined && failure.responseCode >= 500);
  if (answer !== '') return new MailError(`${name} ${refusal(command)}: ${answer}`, temporary);
  return new MailError(`${name} ${breakdown(failure)}`, temporary);
}

function refusal(command: string): string {
  if (command.startsWith('AUTH')) return 'refuses the user name or password';
  if (command === 'MAIL FROM') return 'refuses the sender';
  if (command === 'RCPT TO') return 'refuses the recipient';
  if (command === 'DATA') return 'refuses the letter';
  return 'refuses the connection';
}

function breakdown({ code = '', message = '' }: SmtpFailure): string {
  if (code === 'ETIMEDOUT' || code === 'ABORT_ERR') return 'does not answer in time';
  if (/certificate|altnames/i.test(message)) {
    return `has a certificate that is not accepted, and SVC_SMTP_TLS is required: ${message}`;
  }
  return `cannot be used: ${message === '' ? code : message}`;
}

function secretsOf({ credentials }: Relay, letter: Letter): string[] {
  const tokens = [...`${letter.text}\n${letter.html}`.matchAll(/#token=([^\s"'<>&]+)/g)].map(
    ([, token]) => token ?? '',
  );
  if (credentials === undefined) return tokens;
  const { user, pass } = credentials;
  const plain = Buffer.from(`\0${user}\0${pass}`).toString('base64');
  return [pass, Buffer.from(pass).toString('base64'), plain, ...tokens];
}

const longestQuote = 300;
const hidden = '[hidden]';

function quote(answer: string, secrets: readonly string[]): string {
  let line = answer.replace(/[\p{Cc}\p{Z}]+/gu, ' ').trim();
  for (const secret of secrets) line = line.replaceAll(secret, hidden);
  // Hides pieces of secrets, too: relays break what they quote into lines.
  line = line.replace(/[\w+/=-]{8,}/g, (run) => (secrets.some((secret) => secret.includes(run)) ? hidden : run));
  line = line.replace(/token=\S+/gi, `token=${hidden}`);
  return line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line;
}
