/** A letter to one person, ready to be sent. Its parts hold a secret link: nobody logs them. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Hands the letter to the relay; throws a `MailError` where that fails. */
  send(letter: Letter): Promise<void>;
  /** Whether letters leave this gateway at all; false where they are only noted in the log. */
  readonly delivers: boolean;
}

/** A letter that was not taken. The message is safe to log: it holds nothing of the letter and no password. */
export class MailError extends Error {
  /** Whether the same letter may be taken later. */
  readonly temporary: boolean;

  constructor(message: string, temporary: boolean) {
    super(message);
    this.name = 'MailError';
    this.temporary = temporary;
  }
}
