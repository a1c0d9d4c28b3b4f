import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Decision } from '../audit/index.ts';
import { ownWork } from '../journal/warrant.ts';
import { controlScope, delegateAgent, resumeAgent, revokeDelegation, suspendAgent } from '../testkit/commands.ts';
import { finish } from '../testkit/controls.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { judge } from './check-action.ts';

const names = ['root', 'middle', 'twig', 'leaf'] as const;
const delegates = ['middle', 'twig', 'leaf'] as const;
type Delegate = (typeof delegates)[number];
const delegatorOf = { middle: 'root', twig: 'middle', leaf: 'twig' } as const;
const tools = ['read', 'write', 'send'] as const;
const strength = { allow: 0, pending: 1, deny: 2 } as const;

const rule = fc.record({
  who: fc.constantFrom('global', ...names),
  effect: fc.constantFrom('allow', 'deny', 'require_approval'),
  tool: fc.constantFrom(...tools, '*'),
});
const policy = fc.record({
  isOpen: fc.boolean(),
  rules: fc.array(rule, { maxLength: 6 }),
  caps: fc.array(fc.record({ who: fc.constantFrom(...names), micros: fc.integer({ min: 0, max: 6 }) }), {
    maxLength: 3,
  }),
  rates: fc.array(
    fc.record({
      who: fc.constantFrom('global', ...names),
      per: fc.constantFrom('agent', 'team'),
      max: fc.integer({ min: 1, max: 4 }),
    }),
    { maxLength: 3 },
  ),
});
const deed = fc.oneof(
  { weight: 1, arbitrary: fc.record({ policy }) },
  { weight: 1, arbitrary: fc.record({ hold: fc.constantFrom(...names), isHeld: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ run: fc.constantFrom('pause' as const, 'resume' as const), of: fc.constantFrom(...names) }),
  },
  { weight: 1, arbitrary: fc.record({ revoke: fc.constantFrom(...delegates) }) },
  { weight: 1, arbitrary: fc.record({ wait: fc.constantFrom(1000, 20_000, 200_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      delegate: fc.constantFrom(...delegates),
      ttlSecs: fc.constantFrom(10, 3600),
      tools: fc.subarray([...tools]),
      maxChecks: fc.constantFrom(null, 3, 20),
      maxCostMicros: fc.constantFrom(null, 4),
    }),
  },
  { weight: 6, arbitrary: fc.record({ tool: fc.constantFrom(...tools), cost: fc.integer({ min: 0, max: 2 }) }) },
);

function texts({
  isOpen,
  rules,
  caps,
  rates,
}: typeof policy extends fc.Arbitrary<infer Drawn> ? Drawn : never): string[] {
  const scopes = ['global', ...names].map((who) => {
    const own = rules.filter((each) => each.who === who);
    const cap = caps.find((each) => each.who === who);
    const scope = who === 'global' ? 'global' : `agent:acme/red/${who}`;
    const lines = [
      `name: of-${who}`,
      `scope: ${scope}`,
      ...(who === 'global' ? [`default: ${isOpen ? 'allow' : 'deny'}`] : []),
      `rates: [${rates
        .filter((each) => each.who === who && (who === 'global' || each.per === 'agent'))
        .map(({ per, max }) => `{per: ${per}, window_secs: 60, max: ${max}}`)
        .join(', ')}]`,
      ...(cap === undefined ? [] : [`budget: {daily_limit_usd: ${(cap.micros / 1_000_000).toFixed(6)}}`]),
      `rules: [${own.map(({ effect, tool }, nth) => `{name: r${nth}, effect: ${effect}, tools: ["${tool}"]}`).join(', ')}]`,
    ];
    return lines.join('\n');
  });
  return scopes;
}

/** What an agent would be told now. Nothing of it stays: it cannot be written. */
async function toldNow(g: TestGovernance, { id, token }: TestAgent, tool: string, cost: number): Promise<Decision> {
  const request = checkOf({ agentId: id, token, action: useTool(tool), estimatedCostMicros: cost, runId: 'r' });
  g.failure = new Error('it was only asked');
  let decision: Decision = 'deny';
  const asking = g.gov.journal.turn(ownWork, () => {
    ({ decision } = judge(g.gov, request));
  });
  await expect(g.settle(asking)).rejects.toThrow();
  g.failure = undefined;
  return decision;
}

test('what a delegate may do is a part of what each of its delegators may do at that moment', async () => {
  await fc.assert(
    fc.asyncProperty(policy, fc.array(deed, { minLength: 5, maxLength: 25 }), async (first, deeds) => {
      const g = await testGovernance();
      const agents = new Map<string, TestAgent>();
      await g.policies(...texts(first));
      agents.set('root', await g.register(agentId('acme/red/root')));
      const of = (name: string) => agents.get(name) ?? { id: agentId(`acme/red/${name}`), token: '' };
      const delegate = async (name: Delegate, members: Parameters<typeof delegateAgent>[3] = {}) => {
        const by = of(delegatorOf[name]);
        const granted = await g.settle(delegateAgent(g.gov, by, name, members)).catch(() => undefined);
        if (granted !== undefined) agents.set(name, { id: granted.agentId, token: granted.token });
      };
      for (const name of delegates) await delegate(name);
      for (const each of deeds) {
        if ('policy' in each) await g.policies(...texts(each.policy));
        else if ('hold' in each) {
          const change = each.isHeld ? suspendAgent : resumeAgent;
          // It may have left.
          await g.settle(change(g.gov, operator, of(each.hold).id, '')).catch(() => undefined);
        } else if ('run' in each) {
          const scope = { ...of(each.of).id, runId: 'r' };
          const order = { action: each.run, scope, reason: '', dryRun: false, idempotencyKey: null };
          await finish(g, controlScope(g.gov, operator, order)).catch(() => undefined);
        } else if ('revoke' in each) {
          await g.settle(revokeDelegation(g.gov, of(delegatorOf[each.revoke]), each.revoke)).catch(() => undefined);
        } else if ('wait' in each) g.clock.advance(each.wait);
        else if ('delegate' in each) {
          const { delegate: name, ...limits } = each;
          await delegate(name, limits);
        } else {
          const { tool, cost } = each;
          const above: Decision[] = [];
          for (const name of ['root', 'middle', 'twig']) above.push(await toldNow(g, of(name), tool, cost));
          const asked = { action: useTool(tool), estimatedCostMicros: cost, runId: 'r' };
          const { decision } = await g.check(of('leaf'), asked);
          for (const answer of above) {
            expect(strength[decision], `leaf: ${decision}, above: ${answer}`).toBeGreaterThanOrEqual(strength[answer]);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});
