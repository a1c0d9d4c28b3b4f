import { expect, test } from 'vitest';
import { TestGateway } from '../harness/gateway.ts';
import { password, Person } from '../harness/person.ts';

const rounds = 30;

/** How often the first is slower than the second, over all pairs. One half if they cannot be told apart. */
function shareSlower(first: readonly number[], second: readonly number[]): number {
  let slower = 0;
  for (const a of first) for (const b of second) slower += a > b ? 1 : a === b ? 0.5 : 0;
  return slower / (first.length * second.length);
}

test('the time of a refused login, and of a reset, does not tell whether the account exists', async () => {
  const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_LOCKOUT_ATTEMPTS: '1000' };
  await using gateway = await TestGateway.start({ env });
  await new Person(gateway).register('owner@example.com');
  const timed = async (route: string, email: string) => {
    const started = performance.now();
    const body = route === 'login' ? { email, password: `not ${password}` } : { email };
    await new Person(gateway).post(route, body);
    return performance.now() - started;
  };
  for (const route of ['login', 'password/reset']) {
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < rounds + 3; round++) {
      // Alternates the order, so that other load on the machine affects both alike.
      const pair =
        round % 2 === 0 ? ['owner@example.com', 'nobody@example.com'] : ['nobody@example.com', 'owner@example.com'];
      for (const email of pair) {
        const took = await timed(route, email);
        if (round >= 3) (email === 'owner@example.com' ? known : unknown).push(took);
      }
    }
    const share = shareSlower(known, unknown);
    // With 30 samples each of the same thing, chance leaves this range about once in ten thousand runs.
    expect(share, `${route}: known is slower in ${(share * 100).toFixed(0)} % of pairs`).toBeGreaterThan(0.2);
    expect(share, `${route}: known is slower in ${(share * 100).toFixed(0)} % of pairs`).toBeLessThan(0.8);
  }
});
