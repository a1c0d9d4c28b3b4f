import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckActionResponse as CheckResponse } from '@reeve/contract';
import { CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';

const policy = 'name: chaos\ndefault: allow\nrules:\n  - {name: no, effect: deny, tools: ["no_*"]}\n';
const kills = 10;

/** Checks in every possible way until the gateway is gone, and notes each answer that arrived. */
async function load(gateway: TestGateway, agent: Registered, round: number, acknowledged: Map<string, CheckResponse>) {
  const note = (answer: CheckResponse) => acknowledged.set(answer.opId, answer);
  let next = 0;
  const request = () => {
    const n = next++;
    return checkRequest(agent, {
      traceId: `round-${round}`,
      spanId: `${n}`,
      context: toolCall(n % 5 === 0 ? 'no_way' : 'search', { n }),
    });
  };
  const unary = async () => {
    for (;;) note(await gateway.client.call(paths.checkAction, CheckActionRequest, CheckActionResponse, request()));
  };
  const batches = async () => {
    for (;;) {
      const requests = Array.from({ length: 50 }, request);
      const responses = await gateway.batch(requests);
      for (const answer of responses) note(answer);
    }
  };
  const stream = () =>
    new Promise<void>((resolve) => {
      const call = gateway.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
      call.on('data', (answer: CheckResponse) => {
        note(answer);
        call.write(request());
      });
      call.on('error', () => resolve());
      for (let i = 0; i < 100; i++) call.write(request());
    });
  const untilGone = (work: Promise<unknown>) => work.catch(() => undefined);
  await Promise.all([stream(), untilGone(batches()), ...Array.from({ length: 16 }, () => untilGone(unary()))]);
}

test('ten kills under load lose no acknowledged decision and leave an unbroken chain', async () => {
  let gateway = await TestGateway.start({ policies: { 'chaos.yaml': policy } });
  const acknowledged = new Map<string, CheckResponse>();
  try {
    const agent = await gateway.register({ agentId: 'a' });
    for (let round = 0; round < kills; round++) {
      const before = acknowledged.size;
      const loading = load(gateway, agent, round, acknowledged);
      await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 50));
      await sleep(Math.random() * 400);
      await gateway.kill('SIGKILL');
      await loading;
      expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
      gateway = await TestGateway.start({ folder: gateway.folder });
    }
    const decided = new Map(
      gateway
        .audit()
        .filter((entry) => entry.op_id !== null)
        .map((entry) => [entry.op_id, entry]),
    );
    expect(acknowledged.size).toBeGreaterThan(kills * 50);
    for (const [opId, answer] of acknowledged) {
      expect(decided.get(opId)?.decision).toBe(answer.decision === 1 ? 'allow' : 'deny');
    }
    const seen = gateway
      .audit()
      .filter((entry) => entry.event_type === 'ActionAllowed')
      .map((entry) => entry.op_id);
    expect(new Set(seen).size).toBe(seen.length);
    const [last] = [...acknowledged.values()].filter((answer) => answer.decision === 1).slice(-1);
    expect(await gateway.complete(agent, last?.opId ?? '')).toMatchObject({ state: 'completing' });
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
}, 180_000);

test('the verifier names the first entry that was tampered with', async () => {
  await using gateway = await TestGateway.start({ policies: { 'chaos.yaml': policy } });
  const agent = await gateway.register({ agentId: 'a' });
  for (let i = 0; i < 5; i++) await gateway.check(agent);
  await gateway.kill('SIGTERM');
  const tampered = (change: string) => {
    const db = new DatabaseSync(join(gateway.folder, 'reeve.db'));
    db.exec('BEGIN');
    db.exec(change);
    db.exec('COMMIT');
    db.close();
    return verifyChain(gateway.folder);
  };
  expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
  expect(tampered(`UPDATE audit SET canonical = replace(canonical, '"allow"', '"deny"') WHERE seq = 5`)).toEqual({
    accepted: false,
    says: 'entry 5 is broken: its hash does not fit its content',
  });
  expect(tampered('DELETE FROM audit WHERE seq = 4').says).toContain('entry 5 is broken: the sequence');
});
