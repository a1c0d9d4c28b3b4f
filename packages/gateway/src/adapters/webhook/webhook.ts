import type { Attempt, Delivery } from './send-delivery.ts';
import { signDelivery } from './sign-delivery.ts';

/** Something that the receiver is to be told. */
export interface WebhookMessage {
  /** The same for every attempt, also over a restart: receivers know by it what they have had. */
  readonly id: string;
  /** Messages about the same subject arrive in their order. */
  readonly subject: string;
  readonly type: string;
  /** When it happened. */
  readonly at: number;
  /** What is said of it beside this, as it is when it is sent. */
  readonly content: () => Readonly<Record<string, unknown>>;
}

export interface WebhookPorts {
  readonly url: string;
  readonly secret: string;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<Attempt>;
  /** What is still to be told: of each subject the next message, the oldest first. */
  readonly owing: () => Iterable<WebhookMessage>;
  /** It is told, or given up: it is not owed any more. */
  readonly onSettled: (message: WebhookMessage) => void;
  readonly onAttempt: (message: WebhookMessage, attempt: Attempt, isGivenUp: boolean) => void;
}

const mostAtOnce = 4;
const timeoutMs = 10_000;
const triedForMs = 86_400_000;
/** How long to wait after a failure, by how many there were; the last of these from then on. */
const pausesMs = [1000, 5000, 30_000, 120_000, 600_000] as const;

/**
 * Tells another program, by signed messages over HTTP, what happens here: each at least once, for as long as a day. What
 * is owed is somebody else's to remember; here is only when to try again.
 */
export class Webhook {
  readonly #ports: WebhookPorts;
  readonly #ended = new AbortController();
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, { readonly count: number; readonly nextAt: number }>();

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  /** Sends what is due now. To be called when there is something new, and every now and then for what is tried again. */
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

  /** Lets go of what is being sent: it is owed still, and sent after the next start. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#inFlight.values());
  }

  async #try(message: WebhookMessage): Promise<void> {
    const { secret, url, now, elapsed, send, onSettled, onAttempt } = this.#ports;
    const at = new Date(message.at).toISOString();
    const body = JSON.stringify({ id: message.id, type: message.type, at, ...message.content() });
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
