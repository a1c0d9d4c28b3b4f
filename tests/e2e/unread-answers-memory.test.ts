import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RawClient } from '../../packages/grpc-server/src/testkit/raw-client.ts';
import { residentBytes } from '../fuzz/memory.ts';
import { allowAll, TestGateway } from '../harness/gateway.ts';
import { leaveUnread } from '../harness/unread-answers.ts';

/** Two pools of 64 MiB, and what the collector leaves for later. */
const mostGrowth = 300 * 2 ** 20;
const unknown = 'x'.repeat(3000);

describe('answers that nobody takes', { timeout: 120_000 }, () => {
  let gateway: TestGateway;
  let opened: readonly RawClient[] = [];
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  });
  afterAll(async () => {
    for (const client of opened) client.destroy();
    await gateway[Symbol.asyncDispose]();
  });

  async function grownBy(...unread: readonly Parameters<typeof leaveUnread>[1][]): Promise<number> {
    const before = await residentBytes(gateway.http);
    for (const each of unread) opened = [...opened, ...(await leaveUnread(gateway.grpc, each))];
    return (await residentBytes(gateway.http)) - before;
  }

  test('take bounded memory if they are the same for everybody', async () => {
    const good = await gateway.register({ orgId: 'good', agentId: 'bot' });
    const grown = await grownBy({ connections: 100, calls: 400, symbol: 'reeve.v1.PolicyService' });
    expect(grown).toBeLessThan(mostGrowth);
    expect((await gateway.check(good)).decision).toBe(1);
  });

  test('take bounded memory for strangers together, and for each tenant', async () => {
    const agent = await gateway.register({ orgId: 'evil', agentId: 'bot' });
    const good = await gateway.register({ orgId: 'evil', agentId: 'good' });
    const calls = { calls: 1500, symbol: unknown };
    const grown = await grownBy({ connections: 30, ...calls }, { connections: 30, ...calls, agent });
    expect(grown).toBeLessThan(mostGrowth);
    expect(opened.some(({ isClosed }) => isClosed)).toBe(true);
    // Others, of the same tenant as well, who take their answers, are not concerned.
    expect((await gateway.check(good)).decision).toBe(1);
  });
});
