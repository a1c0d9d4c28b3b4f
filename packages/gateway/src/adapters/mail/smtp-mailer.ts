import type { Letter, Mailer } from '@reeve/core';
import { MailError } from '@reeve/core';
import { composeMessage } from './compose-message.ts';
import { describeFailure } from './describe-failure.ts';
import { hasControls, parseAddress } from './mailbox.ts';
import type { Relay } from './relay.ts';
import type { SmtpTimeouts } from './smtp-session.ts';
import { deliver } from './smtp-session.ts';

const usualTimeouts: SmtpTimeouts = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 30_000, totalMs: 90_000 };

/** Hands letters to an SMTP relay, one connection per letter: letters are few, so no connection stays open. */
export class SmtpMailer implements Mailer {
  readonly delivers = true;
  readonly #relay: Relay;
  readonly #timeouts: SmtpTimeouts;

  constructor(relay: Relay, timeouts: SmtpTimeouts = usualTimeouts) {
    this.#relay = relay;
    this.#timeouts = timeouts;
  }

  async send(letter: Letter): Promise<void> {
    const to = parseAddress(letter.to);
    if (to === undefined) throw new MailError('the address of the recipient cannot be written to', false);
    if (hasControls(letter.subject)) throw new MailError('the subject of the letter must be one line', false);
    const { from } = this.#relay;
    try {
      const message = await composeMessage(from, to, letter);
      await deliver(this.#relay, { from: from.address, to }, message, this.#timeouts);
    } catch (error) {
      throw describeFailure(error, this.#relay, letter);
    }
  }
}
