import type { Letter, Mailer } from '@reeve/core';
import type { Logger } from '../../telemetry/logger.ts';

/** Replaces the mailer where there is no relay. It logs who would have got which letter, never its content. */
export class LoggingMailer implements Mailer {
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
