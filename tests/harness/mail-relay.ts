import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { SMTPServer } from 'smtp-server';
import { readMime } from './mime-message.ts';

export type RelayBehaviour =
  | 'accept'
  /** 550 to RCPT TO: a permanent refusal. */
  | 'refuse_recipient'
  /** 451 to RCPT TO: a temporary refusal. */
  | 'busy'
  | 'hang_before_greeting'
  /** Takes the whole email and never answers. */
  | 'hang_after_data'
  /** Drops the connection at MAIL FROM. */
  | 'close_in_session';

export interface MailRelayOptions {
  /** The accepted login. Everyone may send if left out. */
  readonly auth?: { readonly user: string; readonly pass: string };
  /** Offers STARTTLS, with its own self-signed certificate or the given one. */
  readonly starttls?: boolean | { readonly key: string; readonly cert: string };
  /** TLS from the first byte. */
  readonly implicitTls?: boolean;
  readonly behaviour?: RelayBehaviour;
  /** Accepts addresses beyond ASCII. Default true. */
  readonly utf8?: boolean;
}

export interface ReceivedLetter {
  /** From the envelope. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The text after `#token=` in the link. Empty if there is none. */
  readonly token: string;
  readonly headers: ReadonlyMap<string, string>;
  /** As received. */
  readonly raw: string;
  readonly encrypted: boolean;
  /** The logged-in user, if any. */
  readonly user: string | undefined;
}

/** A mail relay on the loopback, for one test. It takes emails, or misbehaves as told. */
export class MailRelay {
  readonly letters: ReceivedLetter[] = [];
  /** May change while the relay runs, for example from `busy` to `accept`. */
  behaviour: RelayBehaviour;
  /** The number of connections so far. */
  connections = 0;
  readonly #server: SMTPServer;
  readonly #sockets = new Set<Socket>();

  private constructor(options: MailRelayOptions) {
    this.behaviour = options.behaviour ?? 'accept';
    this.#server = new SMTPServer(this.#serverOptions(options));
    this.#server.on('error', () => undefined);
    this.#server.server.on('connection', (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(options: MailRelayOptions = {}): Promise<MailRelay> {
    const relay = new MailRelay(options);
    const listening = once(relay.#server.server, 'listening');
    relay.#server.listen(0, '127.0.0.1');
    await listening;
    return relay;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  /** Connections that the other side still holds open. */
  get openConnections(): number {
    return this.#server.connections.size;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #serverOptions({ auth, starttls = false, implicitTls = false, utf8 = true }: MailRelayOptions): SMTPServerOptions {
    const disabled = [...(starttls === false ? ['STARTTLS'] : []), ...(auth === undefined ? ['AUTH'] : [])];
    return {
      ...(typeof starttls === 'object' ? starttls : {}),
      secure: implicitTls,
      disabledCommands: disabled,
      // The gateway itself must not send a password in plain text.
      allowInsecureAuth: true,
      authOptional: auth === undefined,
      disableReverseLookup: true,
      hideSMTPUTF8: !utf8,
      hideENHANCEDSTATUSCODES: false,
      closeTimeout: 100,
      onConnect: (_, done) => {
        if (this.behaviour !== 'hang_before_greeting') done();
      },
      onAuth: ({ username, password }, _, done) => {
        if (username === auth?.user && password === auth?.pass) done(null, { user: username });
        else done(refusal(535, 'authentication failed'));
      },
      onMailFrom: (_, __, done) => {
        if (this.behaviour !== 'close_in_session') done();
        else for (const socket of this.#sockets) socket.destroy();
      },
      onRcptTo: ({ address }, _, done) => {
        if (this.behaviour === 'refuse_recipient') done(refusal(550, `<${address}>: no such mailbox here`));
        else if (this.behaviour === 'busy') done(refusal(451, 'busy, try again later'));
        else done();
      },
      onData: (stream, session, done) => {
        void buffer(stream).then((raw) => {
          if (this.behaviour === 'hang_after_data') return;
          this.letters.push(letterOf(raw, session));
          done();
        }, done);
      },
    };
  }
}

function letterOf(raw: Buffer, session: SMTPServerSession): ReceivedLetter {
  const { headers, text, html } = readMime(raw);
  const { mailFrom, rcptTo } = session.envelope;
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address).join(', '),
    subject: headers.get('subject') ?? '',
    text,
    html,
    token: /#token=([^\s"]+)/.exec(text)?.[1] ?? '',
    headers,
    raw: raw.toString(),
    encrypted: session.secure,
    user: session.user,
  };
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
