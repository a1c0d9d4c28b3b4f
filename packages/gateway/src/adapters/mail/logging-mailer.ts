import type { Letter, Mailer } from '@reeve/core';
import type { Logger } from '../../telemetry/logger.ts';

/** Stands in where there is no relay: notes who would have got which letter, and never what it says. */
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
