import { ManualClock } from '@reeve/core/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Attempt, Delivery } from './send-delivery.ts';
import { signDelivery } from './sign-delivery.ts';
import type { WebhookMessage } from './webhook.ts';
import { Webhook, webhookJson } from './webhook.ts';

const delivered: Attempt = { outcome: 'delivered', detail: 'status 204' };
const failed: Attempt = { outcome: 'failed', detail: 'status 503' };

/** A webhook with a receiver and a clock that the test controls. */
class WebhookWorld {
  readonly clock = new ManualClock();
  owed: WebhookMessage[] = [];
  readonly sent: Delivery[] = [];
  readonly pending: ((attempt: Attempt) => void)[] = [];
  readonly attempts: string[] = [];
  readonly webhook = new Webhook({
    url: 'http://receiver.test/',
    secret: 'a secret that signs',
    bodyOf: webhookJson,
    now: () => this.clock.now(),
    elapsed: () => this.clock.elapsed(),
    send: (delivery) => {
      this.sent.push(delivery);
      return new Promise((resolve) => this.pending.push(resolve));
    },
    owing: () => this.owed,
    onSettled: ({ id }) => {
      this.owed = this.owed.filter((message) => message.id !== id);
    },
    onAttempt: ({ id }, { outcome }, isGivenUp) =>
      this.attempts.push(`${id} ${outcome}${isGivenUp ? ' for good' : ''}`),
  });

  owe(...subjects: string[]): void {
    for (const subject of subjects) {
      const content = () => ({ subject });
      this.owed.push({ id: `${subject}.1`, subject, type: 'a.thing', at: this.clock.now(), content });
    }
  }

  /** Answers the oldest unanswered message. */
  async answer(attempt: Attempt): Promise<void> {
    this.pending.shift()?.(attempt);
    for (let tasks = 0; tasks < 10; tasks++) await Promise.resolve();
  }

  /** Lets time pass, then sends what is due. */
  wait(ms: number): void {
    this.clock.advance(ms);
    this.webhook.wake();
  }
}

let world: WebhookWorld;
beforeEach(() => {
  world = new WebhookWorld();
});

describe('a webhook', () => {
  test('sends what is owed, signed, under an id that stays the same', async () => {
    world.owe('x');
    world.webhook.wake();
    const [delivery] = world.sent;
    expect(JSON.parse(delivery?.body ?? '')).toMatchObject({ id: 'x.1', type: 'a.thing', subject: 'x' });
    const seconds = Math.floor(world.clock.now() / 1000);
    expect(delivery?.headers).toMatchObject({
      'reeve-delivery': 'x.1',
      'reeve-signature': signDelivery('a secret that signs', seconds, delivery?.body ?? ''),
    });
    await world.answer(delivered);
    expect(world.owed).toEqual([]);
    world.wait(60_000);
    expect(world.sent).toHaveLength(1);
  });

  test('waits 1, 5, 30, 120 and then 600 seconds between attempts, and gives up after a day', async () => {
    world.owe('x');
    world.webhook.wake();
    for (const seconds of [1, 5, 30, 120, 600, 600, 600]) {
      await world.answer(failed);
      world.wait(seconds * 1000 - 1);
      expect(world.pending).toHaveLength(0);
      world.wait(1);
      expect(world.pending).toHaveLength(1);
    }
    world.clock.advance(86_400_000);
    await world.answer(failed);
    expect(world.owed).toEqual([]);
    expect(world.attempts.at(-1)).toBe('x.1 failed for good');
  });

  test('has at most four messages on their way, and of one subject one', async () => {
    world.owe('a', 'b', 'c', 'd', 'e');
    world.owed.push({ id: 'a.2', subject: 'a', type: 'a.thing', at: 0, content: () => ({}) });
    world.webhook.wake();
    const ids = () => world.sent.map(({ headers }) => headers['reeve-delivery']);
    expect(ids()).toEqual(['a.1', 'b.1', 'c.1', 'd.1']);
    await world.answer(delivered);
    expect(ids()).toEqual(['a.1', 'b.1', 'c.1', 'd.1', 'e.1']);
    await world.answer(delivered);
    expect(ids().at(-1)).toBe('a.2');
  });

  test('does not send again what the receiver refuses', async () => {
    world.owe('x');
    world.webhook.wake();
    await world.answer({ outcome: 'refused', detail: 'status 400' });
    expect(world.owed).toEqual([]);
    expect(world.attempts).toEqual(['x.1 refused']);
  });

  test('that is stopped owes what it could not deliver', async () => {
    world.owe('x', 'y');
    world.webhook.wake();
    const stopping = world.webhook.stop();
    await world.answer(failed);
    await world.answer(delivered);
    await stopping;
    expect(world.owed.map(({ id }) => id)).toEqual(['x.1']);
    world.webhook.wake();
    expect(world.sent).toHaveLength(2);
  });
});
