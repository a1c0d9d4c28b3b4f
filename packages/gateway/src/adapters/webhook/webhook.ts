import type { Attempt, Delivery } from './send-delivery.ts';
import { signDelivery } from './sign-delivery.ts';

type Content = Readonly<Record<string, unknown>>;

/** A message to the receiver. */
export interface WebhookMessage {
  /** The same for every attempt, even across a restart, so that receivers can recognise duplicates. */
  readonly id: string;
  /** Messages about the same subject arrive in order. */
  readonly subject: string;
  readonly type: string;
  /** When the event happened. */
  readonly at: number;
  /** The rest of the message, read when it is sent. */
  readonly content: () => Content | Promise<Content>;
}

/** A message as JSON for programs. */
export function webhookJson({ id, type, at, content }: WebhookMessage): string | Promise<string> {
  const textOf = (read: Content) => JSON.stringify({ id, type, at: new Date(at).toISOString(), ...read });
  const read = content();
  return read instanceof Promise ? read.then(textOf) : textOf(read);
}

export interface WebhookPorts<Message extends WebhookMessage = WebhookMessage> {
  readonly url: string;
  readonly secret: string;
  /** The body of a message. */
  readonly bodyOf: (message: Message) => string | Promise<string>;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<Attempt>;
  /** The unsent messages: the next one of each subject, the oldest first. */
  readonly owing: () => Iterable<Message>;
  /** The message was delivered or given up, and is no longer owed. */
  readonly onSettled: (message: Message) => void;
  readonly onAttempt: (message: Message, attempt: Attempt, isGivenUp: boolean) => void;
}

const mostAtOnce = 4;
const timeoutMs = 10_000;
const triedForMs = 86_400_000;
/** The backoff after each failure; the last value repeats. */
const pausesMs = [1000, 5000, 30_000, 120_000, 600_000] as const;

/**
 * Sends signed messages over HTTP to another program. Each is delivered at least once, unless a day of retries fails.
 * The caller remembers what is owed; this class only knows when to retry.
 */
export class Webhook<Message extends WebhookMessage = WebhookMessage> {
  readonly #ports: WebhookPorts<Message>;
  readonly #ended = new AbortController();
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, { readonly count: number; readonly nextAt: number }>();

  constructor(ports: WebhookPorts<Message>) {
    this.#ports = ports;
  }

  /** Sends what is due now. Call it when there is a new message, and regularly for retries. */
  wake(): void {
    if (this.#ended.signal.aborted) return;
    for (const message of this.#ports.owing()) {
      if (this.#inFlight.size >= mostAtOnce) return;
      const nextAt = this.#failures.get(message.id)?.nextAt ?? 0;
      if (this.#inFlight.has(message.subject) || nextAt > this.#ports.elapsed()) continue;
      const attempt = this.#try(message).finally(() => {
        this.#inFlight.delete(message.subject);
        this.wake();
      });
      this.#inFlight.set(message.subject, attempt);
    }
  }

  /** Aborts what is being sent. It is still owed, and is sent after the next start. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#inFlight.values());
  }

  async #try(message: Message): Promise<void> {
    const { secret, url, bodyOf, now, elapsed, send, onSettled, onAttempt } = this.#ports;
    const made = bodyOf(message);
    const body = typeof made === 'string' ? made : await made;
    const headers = {
      'content-type': 'application/json',
      'reeve-delivery': message.id,
      'reeve-signature': signDelivery(secret, Math.floor(now() / 1000), body),
      'user-agent': 'Reeve',
    };
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(timeoutMs)]);
    const attempt = await send({ url, headers, body }, signal);
    if (this.#ended.signal.aborted && attempt.outcome !== 'delivered') return;
    const isLast = attempt.outcome === 'failed' && now() - message.at >= triedForMs;
    onAttempt(message, attempt, isLast);
    if (attempt.outcome === 'failed' && !isLast) {
      const count = (this.#failures.get(message.id)?.count ?? 0) + 1;
      const pause = pausesMs[Math.min(count, pausesMs.length) - 1] ?? 0;
      this.#failures.set(message.id, { count, nextAt: elapsed() + pause });
      return;
    }
    this.#failures.delete(message.id);
    onSettled(message);
  }
}
