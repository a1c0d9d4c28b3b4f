import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { action } from '../action/action.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { BacktestLine } from './backtest.ts';
import { backtest } from './backtest.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentKey } from '../kernel/ids.ts';
import { candidateSet } from './candidate.ts';
import { agentsOf, judgeAgain } from './judge-again.ts';
import { approveAction } from '../testkit/commands.ts';

const bot = agentId('acme/search/bot');

async function governed(policy: string) {
  const store = new MemoryStore();
  const features = { compileCondition: (text: string) => (facts: { costUsd: number }) => facts.costUsd > Number(text) };
  const test = await testGovernance({ store, features });
  await test.policies(policy);
  const agent = await test.register(bot);
  return { store, test, agent };
}

function run(test: TestGovernance, store: MemoryStore, text: string, onPage = (_entries: number) => {}) {
  const set = candidateSet(test.gov, operator, { text, merge: false });
  const judge = (entries: Parameters<typeof judgeAgain>[1]) => {
    onPage(entries.length);
    const known = agentsOf(entries).map(agentKey);
    const find = (id: AgentId) => {
      expect(known).toContain(agentKey(id));
      return test.gov.directory.find(id)?.record;
    };
    return Promise.resolve(judgeAgain(set, entries, find));
  };
  return backtest({ gov: test.gov, log: store, judge }, operator, {
    from: 0,
    to: Number.MAX_SAFE_INTEGER,
    changes: 10,
  });
}

async function all(lines: AsyncGenerator<BacktestLine>): Promise<BacktestLine[]> {
  const found: BacktestLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

describe('a backtest', () => {
  test('judges a price by the candidate, and an estimate as no less than that', async () => {
    const { store, test, agent } = await governed('default: allow');
    const call = action('llm_call', { model: 'm', promptTokens: 1_000_000 });
    await test.check(agent, { action: call });
    await test.check(agent, { action: call, estimatedCostMicros: 1 });
    await test.check(agent, { action: { ...call, model: 'unpriced' }, estimatedCostMicros: 1 });
    const candidate = `
rules: [{name: all, effect: allow}, {name: dear, effect: deny, when: "5"}]
pricing: {m: {input_per_mtok_usd: 10, output_per_mtok_usd: 0}}
`;
    const lines = await all(run(test, store, candidate));
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      examined: 3,
      skipped: 0,
      changed: 2,
      byRule: [{ rule: 'candidate/dear', was: 'allow', wouldBe: 'deny', count: 2 }],
    });
  });

  test('leaves what a grant has allowed as it was, where the rule still asks', async () => {
    const policy = 'name: p\nrules: [{name: ask, effect: require_approval, tools: [pay]}]';
    const { store, test, agent } = await governed(policy);
    const pay = { action: useTool('pay'), runId: 'r' };
    const { approvalId } = await test.check(agent, pay);
    const person = {
      ...operator,
      credentialId: 'a-person',
      actor: { id: 'a-person', kind: 'account', label: '' },
    } as const;
    const grant = { reason: '', grant: { reach: 'run' } } as const;
    const approving = approveAction(test.gov, person, approvalId, grant);
    const state = { isOver: false };
    const over = approving.finally(() => (state.isOver = true));
    while (!state.isOver) {
      test.turn();
      await new Promise(setImmediate);
    }
    await over;
    expect((await test.check(agent, pay)).decision).toBe('allow');
    expect((await all(run(test, store, policy))).at(-1)).toMatchObject({ examined: 2, changed: 0 });
    const renamed = policy.replace('name: ask', 'name: asks');
    expect((await all(run(test, store, renamed))).at(-1)).toMatchObject({
      changed: 1,
      byOutcome: [{ was: 'allow', wouldBe: 'pending', count: 1 }],
    });
  });

  test('is judged page by page, so that nobody has to wait for all of it', async () => {
    const { store, test, agent } = await governed('default: allow');
    for (let time = 0; time < 600; time++) await test.check(agent);
    const pages: number[] = [];
    await all(run(test, store, 'default: allow', (entries) => pages.push(entries)));
    expect(pages.length).toBeGreaterThan(2);
    expect(Math.max(...pages)).toBeLessThanOrEqual(250);
  });

  test('tells its progress, and stops where nobody reads on', async () => {
    const { store, test, agent } = await governed('default: allow');
    for (let time = 0; time < 1000; time++) await test.check(agent);
    let pages = 0;
    const log = {
      latest: (query: Parameters<MemoryStore['latest']>[0]) => {
        pages++;
        test.clock.advance(500);
        return store.latest(query);
      },
      oldest: store.oldest.bind(store),
    } as unknown as MemoryStore;
    const lines = run(test, log, 'default: allow');
    expect((await lines.next()).value).toEqual({ type: 'progress', examined: 0, changed: 0, share: 0 });
    expect((await lines.next()).value).toMatchObject({ type: 'progress', examined: 250 });
    await lines.return(undefined);
    expect(pages).toBe(1);
  });
});
