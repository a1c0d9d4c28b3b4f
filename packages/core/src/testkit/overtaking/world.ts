import { checkAction } from '../../decision/check-action.ts';
import { MemoryStore } from '../../memory/memory-store.ts';
import type { Facts, PolicyFeatures } from '../../policy/condition.ts';
import { putPolicy } from '../../policy/store/change-policy.ts';
import type { Batch } from '../../store.ts';
import { completeAction, controlScope, delegateAgent, registerAgent, suspendAgent, suspendScope } from '../commands.ts';
import { agentId, checkOf, operator, registration, useTool } from '../requests.ts';
import { SharedMemory } from '../shared-memory.ts';
import type { TestAgent, TestGovernance } from '../test-governance.ts';
import { ticks, twoGateways } from '../two-gateways.ts';

export const usd = 1e6;

const policy = `
name: p
default: allow
budget: { daily_limit_usd: 10 }
rates: [{ per: org, tools: [counted], window_secs: 60, max: 2 }]
rules:
  - { name: ask, effect: require_approval, tools: [shell] }
  - { name: frugal, effect: deny, tools: [frugal], when: spend }
  - { name: calm, effect: deny, tools: [calm], when: run }
  - { name: results, on: result, effect: deny, when: run }
  - { name: told, on: result, effect: allow, labels: [told] }
  - { name: mail, effect: allow, tools: [mail], labels: [mail] }
  - { name: secret, effect: allow, tools: [secret], labels: [secret], labels_of: agent }
  - { name: web, effect: require_approval, tools: [web], labels: [web] }
  - { name: guarded, effect: deny, tools: [post, wire], when: labels }
  - { name: wire, effect: require_approval, tools: [wire] }
  - { name: read, on: result, effect: allow, tools: [read], labels: [read] }
  - { name: edit, effect: allow, tools: [edit], rewrite: { seen: labels } }
`;

const farCap = 'name: far-cap\nscope: org:far\nbudget: { daily_limit_usd: 3 }\n';

const features: PolicyFeatures = {
  compileCondition: (source) => {
    if (source === 'spend') return (facts) => facts.spend().global.day_usd > 7.5;
    if (source === 'run') return (facts) => facts.run().checks > 0;
    return Object.assign((facts: Facts) => facts.run().labels.length > 0, { readsLabels: true } as const);
  },
  compileValue: () => (facts) => facts.run().labels.join(),
  compileResultCondition: () => (facts) => facts.run().checks > 2,
};

const agents = [
  'acme/red/boss',
  'acme/red/two',
  'acme/blue/three',
  'acme/blue/still',
  'acme/green/team',
  'far/x/away',
  'far/x/other',
];
const delegates = ['helper', 'ex', 'why'];
const tokenOf = (name: string) => `the token of ${name}, which is long enough`;
export const newcomer = { id: agentId('acme/red/new'), token: tokenOf('the newcomer') };

export type World = Awaited<ReturnType<typeof begin>>;

/** Remembers what was committed, so that other worlds can begin with it. */
class Recording extends MemoryStore {
  readonly batches: Batch[] = [];

  override commit(batch: Batch): void {
    this.batches.push(batch);
    super.commit(batch);
  }
}

/** Whether something is done, or has failed. */
export function watchOf(work: Promise<unknown>): { readonly isOver: boolean } {
  const watch = { isOver: false };
  const end = () => {
    watch.isOver = true;
  };
  work.then(end, end);
  return watch;
}

async function worldOn(log: SharedMemory) {
  const cluster = await twoGateways(policy, { features }, log);
  const { one, two } = cluster;
  /** Ends the turns of both until this is done. */
  const settled = async <Result>(work: Promise<Result>): Promise<Result> => {
    const watch = watchOf(work);
    for (let round = 0; !watch.isOver && round < 50; round++) {
      await ticks();
      one.turn();
      two.turn();
      while (log.waiting > 0) {
        log.work();
        await ticks();
      }
    }
    return work;
  };
  const follow = async () => {
    for (const { gov } of [one, two]) await settled(gov.journal.catchUp());
  };
  return { ...cluster, settled, follow };
}

/** What the gateways know in the beginning: agents, delegates, operations, an approval, suspensions and a held run. */
async function prepare() {
  const store = new Recording();
  const { one, settled } = await worldOn(new SharedMemory(store));
  const known = new Map<string, TestAgent>();
  const agent = (name: string): TestAgent => known.get(name) ?? { id: agentId(`acme/red/${name}`), token: '' };
  for (const name of agents) {
    const id = agentId(name);
    const token = tokenOf(name);
    await settled(registerAgent(one.gov, operator, registration(id, { token })));
    known.set(id.agentId, { id, token });
  }
  const limits = { maxCostMicros: 3 * usd, maxChecks: 2, maxDelegates: 3 };
  for (const [at, name] of delegates.entries()) {
    const by = agent(at === 0 ? 'boss' : 'helper');
    const granted = await settled(delegateAgent(one.gov, by, name, at === 0 ? limits : {}));
    known.set(name, { id: granted.agentId, token: granted.token });
  }
  const check = (at: TestGovernance, name: string, op: string, members: object = {}) => {
    const { id, token } = agent(name);
    return checkAction(at.gov, checkOf({ agentId: id, token, traceId: op, spanId: 's', ...members }));
  };
  await settled(check(one, 'two', 'held', { estimatedCostMicros: 5 * usd }));
  await settled(check(one, 'two', 'old'));
  await settled(check(one, 'two', 'labels', { runId: 'r0', action: useTool('mail') }));
  await settled(complete(one, agent('two'), 'old', 0));
  await settled(check(one, 'why', 'above', { estimatedCostMicros: 2 * usd }));
  // Of this cap, everybody has been told.
  await settled(putPolicy(one.gov, operator, { name: 'far-cap', source: farCap, note: '' }));
  await settled(check(one, 'away', 'full', { estimatedCostMicros: 3 * usd }));
  await settled(complete(one, agent('away'), 'full', 0));
  await settled(check(one, 'three', 'counted', { action: useTool('counted') }));
  const asked = await settled(check(one, 'three', 'asked', { action: useTool('shell') }));
  const labelling = await settled(check(one, 'two', 'labelling', { runId: 'r', action: useTool('web') }));
  const wiring = await settled(check(one, 'two', 'wiring', { runId: 'r', action: useTool('wire') }));
  await settled(check(one, 'two', 'reading', { runId: 'r', action: useTool('read') }));
  await settled(check(one, 'two', 'editing', { runId: 'r', ...edit }));
  await settled(suspendAgent(one.gov, operator, agent('still').id, 'an incident'));
  const { id: suspension } = await settled(suspendScope(one.gov, operator, { orgId: 'acme', teamId: 'green' }));
  await settled(controlScope(one.gov, operator, scope('acme', 'r2')));
  const { head } = one.gov.journal;
  const approvals = {
    approvalId: asked.approvalId ?? '',
    labellingId: labelling.approvalId ?? '',
    wiringId: wiring.approvalId ?? '',
  };
  return { batches: store.batches, head, agent, check, ...approvals, suspension };
}

let prepared: ReturnType<typeof prepare> | undefined;

/** Two gateways that know the same. */
export async function begin() {
  prepared ??= prepare();
  const { batches, head, ...beginning } = await prepared;
  const store = new MemoryStore();
  for (const batch of batches) store.commit(batch);
  const world = await worldOn(new SharedMemory(store, head));
  await world.follow();
  return { ...world, ...beginning };
}

export function scope(orgId: string, runId: string) {
  return { action: 'pause', scope: { orgId, runId }, reason: '', dryRun: false, idempotencyKey: null } as const;
}

export function complete({ gov }: TestGovernance, { id, token }: TestAgent, op: string, cost: number) {
  const how = { actualCostMicros: cost * usd, outcome: 'succeeded', detail: '' } as const;
  return completeAction(gov, { agentId: id, token, opId: `${op}:s`, ...how });
}

export const edit = { action: useTool('edit', {}), canRewrite: true };
