import { isLoopback } from '@reeve/contract/host-name';
import type { Letter, Mailer } from '@reeve/core';
import { messageOf } from '@reeve/core';
import type { Logger } from '../../telemetry/logger.ts';
import type { MailSettings } from './relay.ts';
import { relayOf } from './relay.ts';
import { SmtpMailer } from './smtp-mailer.ts';

/** The spec: without a relay, or with wrong relay settings, letters are only logged and the gateway starts. */
export function makeMailer(settings: MailSettings, logger: Logger): Mailer {
  try {
    // Without a host the other settings change nothing. Wrong ones are told of all the same.
    const relay = relayOf({ ...settings, smtpHost: settings.smtpHost ?? 'localhost' });
    if (settings.smtpHost === undefined) return new LoggingMailer(logger);
    if (!isLoopback(relay.host)) warnOfRisks(settings, logger);
    return new SmtpMailer(relay);
  } catch (error) {
    logger.warn(`no mail will be sent, only logged: ${messageOf(error)}`);
    return new LoggingMailer(logger);
  }
}

function warnOfRisks({ smtpFrom, smtpTls }: MailSettings, logger: Logger): void {
  if (smtpFrom === undefined) {
    logger.warn('SVC_SMTP_FROM is not set: mail goes out from no-reply@localhost, which relays refuse or file as spam');
  }
  if (smtpTls === 'off') {
    logger.warn('SVC_SMTP_TLS is off: mail, with the links in it, crosses the network for everyone to read');
  }
}

/** Replaces the mailer where there is no relay. It logs who would have got which letter, never its content. */
class LoggingMailer implements Mailer {
  readonly delivers = false;
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  send({ to, subject }: Letter): Promise<void> {
    this.#logger.info({ to, subject }, 'a letter was not sent, as there is no mail relay');
    return Promise.resolve();
  }
}
