import { describe, expect, test } from 'vitest';
import { residentBytes } from '../fuzz/memory.ts';
import { allowAll, TestGateway } from '../harness/gateway.ts';
import { leaveUnread } from '../harness/unread-answers.ts';

/** What so many open calls take by themselves, far less than with an answer of 5 KB for each. */
const mostGrowth = 420 * 2 ** 20;
const symbol = 'reeve.v1.PolicyService';

describe('answers that nobody takes stay within bounded memory, and others are answered', { timeout: 180_000 }, () => {
  test.each([
    ['of strangers', false, { connections: 60, calls: 1900, symbol }],
    ['of one agent', true, { connections: 30, calls: 3800, symbol }],
  ])('%s', async (_whose, isKnown, unread) => {
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const agent = await gateway.register({ orgId: 'evil', agentId: 'bot' });
    const good = await gateway.register({ orgId: 'evil', agentId: 'good' });
    const before = await residentBytes(gateway.http);
    const opened = await leaveUnread(gateway.grpc, isKnown ? { ...unread, agent } : unread);
    const grown = (await residentBytes(gateway.http)) - before;
    expect(grown).toBeLessThan(mostGrowth);
    expect((await gateway.check(good)).decision).toBe(1);
    for (const client of opened) client.destroy();
  });
});
