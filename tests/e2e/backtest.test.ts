import { ActionType } from '@reeve/contract';
import type { BacktestLine } from '@reeve/contract/http';
import { backtestLine } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';
import { durableStores } from '../harness/stores.ts';

type Line = BacktestLine;
type Result = Extract<Line, { type: 'result' }>;

const policy = `
name: p
rules:
  - {name: tools, effect: allow, tools: ["t*"]}
  - {name: no-nine, effect: deny, tools: [t9]}
budget: {agent_daily_limit_usd: 1}
`;

/** Denies expensive calls, asks about t7, denies t1 to globex and allows t9. */
const candidate = `
name: p
rules:
  - {name: all, effect: allow, tools: ["t*"]}
  - {name: dear, effect: deny, tools: [t3], when: "args.amount > 50"}
  - {name: ask, effect: require_approval, tools: [t7]}
---
name: globex
scope: org:globex
rules:
  - {name: no-one, effect: deny, tools: [t1]}
`;

/** The same rules, for a reader of this test. */
function wouldBe(org: string, tool: string, amount: number): [decision: string, rule: string] {
  if (tool === 't3' && amount > 50) return ['deny', 'p/dear'];
  if (org === 'globex' && tool === 't1') return ['deny', 'globex/no-one'];
  if (tool === 't7') return ['pending', 'p/ask'];
  return tool.startsWith('t') ? ['allow', 'p/all'] : ['deny', 'default'];
}

interface Asked {
  readonly agent: Registered;
  readonly tool: string;
  readonly amount: number;
}

async function checkAll(gateway: TestGateway, asked: readonly Asked[]): Promise<void> {
  const requests = asked.map(({ agent, tool, amount }) => checkRequest(agent, { context: toolCall(tool, { amount }) }));
  await gateway.batch(requests);
}

async function backtest(gateway: TestGateway, members: object = {}, bearer = bootstrapKey): Promise<Line[]> {
  const { status, text, headers } = await gateway.api.post('/api/v1/policies/backtest', bearer, {
    candidate,
    ...members,
  });
  expect(status, text).toBe(200);
  expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => backtestLine.parse(JSON.parse(line)));
}

function resultOf(lines: readonly Line[]): Result {
  const last = lines.at(-1);
  if (last?.type !== 'result') throw new Error(`the last line is no result: ${JSON.stringify(last)}`);
  expect(lines.filter(({ type }) => type === 'result')).toHaveLength(1);
  return last;
}

/** Counts by subject of the line, as `was>would_be what`. */
function counts<Row extends { was: string; would_be: string; count: number }>(
  rows: readonly Row[],
  about: (row: Row) => string,
): Record<string, number> {
  return Object.fromEntries(rows.map((row) => [`${row.was}>${row.would_be} ${about(row)}`, row.count]));
}

function byRule({ by_rule }: Result): Record<string, number> {
  return counts(by_rule, ({ rule }) => rule);
}

describe.each(durableStores)('a backtest on $name', ({ open }) => {
  test('of some thousand decisions tells what a plain model tells', async () => {
    await using store = await open();
    const gateway = await store.start({ policies: { 'p.yaml': policy } });
    const agents = await Promise.all(
      ['acme', 'globex'].flatMap((orgId) => ['a', 'b', 'c'].map((agentId) => gateway.register({ orgId, agentId }))),
    );
    const asked = Array.from({ length: 3000 }, (_, index) => ({
      agent: agents[(index * 7) % agents.length] as Registered,
      tool: index % 11 === 10 ? 'other' : `t${index % 11}`,
      amount: (index * 13) % 100,
    }));
    for (let from = 0; from < asked.length; from += 500) await checkAll(gateway, asked.slice(from, from + 500));
    const first = agents[0] as Registered;
    // None of these is a policy decision of its own.
    const replayed = { traceId: 'again', spanId: '1', context: toolCall('t9') };
    await gateway.check(first, replayed);
    await gateway.check(first, replayed);
    await gateway.check({ ...first, token: 'x'.repeat(40) });
    // A budget refused this call, which policy had allowed.
    const dear = await gateway.check(first, { context: toolCall('t1', { amount: 1 }), estimatedCostMicros: 2_000_000 });
    expect(dear.policyRule).toBe('budget/agent.day');

    const model = { rule: new Map<string, number>(), agent: new Map<string, number>(), changed: 1 };
    const add = (of: Map<string, number>, key: string) => of.set(key, (of.get(key) ?? 0) + 1);
    add(model.rule, 'deny>allow p/all');
    add(model.agent, 'deny>allow acme/core/a');
    for (const { agent, tool, amount } of asked) {
      const was = tool.startsWith('t') && tool !== 't9' ? 'allow' : 'deny';
      const [decision, rule] = wouldBe(agent.id.orgId, tool, amount);
      if (decision === was) continue;
      model.changed++;
      add(model.rule, `${was}>${decision} ${rule}`);
      add(model.agent, `${was}>${decision} ${agent.id.orgId}/core/${agent.id.agentId}`);
    }

    const lines = await backtest(gateway, { changes: 50 });
    const result = resultOf(lines);
    expect(result).toMatchObject({ examined: 3002, skipped: 0, changed: model.changed });
    expect(byRule(result)).toEqual(Object.fromEntries(model.rule));
    const byAgent = counts(result.by_agent, (row) => `${row.org_id}/${row.team_id}/${row.agent_id}`);
    expect(byAgent).toEqual(Object.fromEntries(model.agent));
    expect(result.by_outcome.reduce((sum, { count }) => sum + count, 0)).toBe(model.changed);
    expect(Date.parse(result.to) - Date.parse(result.from)).toBe(7 * 86_400_000);

    const changes = lines.filter((line) => line.type === 'change').map(({ change }) => change);
    expect(changes).toHaveLength(50);
    const seqs = changes.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
    const log = new Map(gateway.audit().map((entry) => [entry.seq, entry]));
    for (const change of changes) {
      const entry = log.get(change.seq);
      expect(entry).toMatchObject({
        at: change.at,
        op_id: change.op_id,
        decision: change.was,
        policy_rule: change.was_rule,
        lineage: { org_id: change.org_id, agent_id: change.agent_id },
      });
      const { args } = (entry?.payload['action'] ?? {}) as { args?: { amount: number } };
      expect([change.would_be, change.would_be_rule]).toEqual(
        wouldBe(change.org_id, change.resource, args?.amount ?? 0),
      );
    }
    expect(lines[0]).toEqual({ type: 'progress', examined: 0, total: null, changed: 0, share: 0 });
  });
});

describe('a backtest', () => {
  let gateway: TestGateway;
  let bot: Registered;
  let acme: string;
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
    acme = (await makeKey(gateway, { org_id: 'acme' })).key;
    bot = await gateway.register({ agentId: 'bot' });
    const foreign = await gateway.register({ orgId: 'globex', agentId: 'bot' });
    const asked = Array.from({ length: 6000 }, (_, index) => ({
      agent: index % 3 === 0 ? foreign : bot,
      tool: `t${index % 9}`,
      amount: index % 100,
    }));
    for (let from = 0; from < asked.length; from += 1000) await checkAll(gateway, asked.slice(from, from + 1000));
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('of what is in force changes nothing', async () => {
    expect(resultOf(await backtest(gateway, { candidate: policy }))).toMatchObject({ examined: 6000, changed: 0 });
  });

  test('joins what is in force, where it is asked to', async () => {
    const extra = 'name: extra\nrules:\n  - {name: no-two, effect: deny, tools: [t2]}\n';
    const merged = resultOf(await backtest(gateway, { candidate: extra, merge: true }));
    expect(byRule(merged)).toEqual({ 'allow>deny extra/no-two': 667 });
    const alone = resultOf(await backtest(gateway, { candidate: extra }));
    expect(byRule(alone)).toEqual({ 'allow>deny extra/no-two': 667, 'allow>deny default': 5333 });
  });

  test('looks at the days, org and agent that it is asked about', async () => {
    const deny = 'name: n\n';
    expect(resultOf(await backtest(gateway, { candidate: deny, org_id: 'globex' })).examined).toBe(2000);
    expect(resultOf(await backtest(gateway, { candidate: deny, agent_id: 'bot' })).examined).toBe(6000);
    expect(resultOf(await backtest(gateway, { candidate: deny, team_id: 'nobody' })).examined).toBe(0);
    expect(resultOf(await backtest(gateway, { candidate: deny, days: 1e-9 })).examined).toBe(0);
  });

  test('skips what depends on something that is not recorded, and only that', async () => {
    const spending = `
name: p
rules:
  - {name: all, effect: allow, tools: ["t*"]}
  - {name: spent, effect: deny, tools: [t1], when: "spend.agent.day_usd > 100.0"}
  - {name: sure, effect: deny, tools: [t2]}
  - {name: also, effect: deny, tools: [t2], when: "spend.agent.day_usd > 100.0"}
  - {name: either, effect: deny, tools: [t3], when: "spend.agent.day_usd > 100.0 || args.amount >= 0"}
`;
    const result = resultOf(await backtest(gateway, { candidate: spending }));
    expect(result).toMatchObject({ examined: 6000, skipped: 667 });
    expect(byRule(result)).toEqual({ 'allow>deny p/sure': 667, 'allow>deny p/either': 667 });
  });

  test('by a tenant is of its own decisions, and of candidates for its own org', async () => {
    const own = 'name: own\nscope: org:acme\nrules:\n  - {name: no-two, effect: deny, tools: [t2]}\n';
    const lines = await backtest(gateway, { candidate: own }, acme);
    expect(resultOf(lines)).toMatchObject({ examined: 4000 });
    expect(resultOf(lines).by_agent.every(({ org_id }) => org_id === 'acme')).toBe(true);
    expect(JSON.stringify(lines)).not.toContain('globex');
    expect(resultOf(await backtest(gateway, { candidate: own, org_id: 'globex' }, acme)).examined).toBe(0);
    const global = await gateway.api.post<{ code: string }>('/api/v1/policies/backtest', acme, {
      candidate: 'name: x\n',
    });
    expect([global.status, global.body.code]).toEqual([403, 'tenant_bound']);
  });

  test('of a candidate with errors is refused before it begins', async () => {
    const { status, body } = await gateway.api.post<{ code: string; errors: object[] }>(
      '/api/v1/policies/backtest',
      bootstrapKey,
      { candidate: 'name: x\nrules: 7\n' },
    );
    expect([status, body.code]).toEqual([422, 'policy_invalid']);
    expect(body.errors).toEqual([{ file: 'candidate', line: 2, column: 8, message: '"rules" must be a list' }]);
  });

  /** A running backtest: its first line has arrived. */
  async function started(): Promise<
    { reader: ReadableStreamDefaultReader<Uint8Array>; abort: AbortController } | undefined
  > {
    const abort = new AbortController();
    const response = await fetch(`${gateway.http}/api/v1/policies/backtest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ candidate, changes: 10_000 }),
      signal: abort.signal,
    });
    if (response.status !== 200 || response.body === null) {
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBe('10');
      expect(await response.json()).toMatchObject({ code: 'rate_limited' });
      return undefined;
    }
    const reader = response.body.getReader();
    await reader.read();
    return { reader, abort };
  }

  test('runs beside one other at most, and gives its place back when its client has gone', async () => {
    for (let time = 0; time < 3; time++) {
      // A backtest that ended before the others began proves nothing, so the test tries again.
      await eventually(async () => {
        const running = await Promise.all([started(), started(), started(), started(), started()]);
        for (const one of running) one?.abort.abort();
        const refused = running.filter((one) => one === undefined).length;
        expect(refused).toBeGreaterThan(0);
        expect(refused).toBeLessThanOrEqual(3);
      });
    }
    await eventually(async () => expect(resultOf(await backtest(gateway)).examined).toBe(6000));
  });

  test('does not keep decisions waiting', async () => {
    const check = async () => {
      const start = performance.now();
      await gateway.check(bot, { actionType: ActionType.TOOL_CALL, context: toolCall('t1') });
      return performance.now() - start;
    };
    const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
    const quiet: number[] = [];
    for (let time = 0; time < 200; time++) quiet.push(await check());
    const busy: number[] = [];
    const state = { isOver: false };
    const tests = (async () => {
      for (let time = 0; time < 3; time++) await Promise.all([backtest(gateway), backtest(gateway)]);
      state.isOver = true;
    })();
    while (!state.isOver) busy.push(await check());
    await tests;
    expect(busy.length).toBeGreaterThan(20);
    expect(median(busy) / median(quiet)).toBeLessThan(25);
  });
});
