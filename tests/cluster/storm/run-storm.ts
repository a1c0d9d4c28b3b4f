import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { makeKey } from '../../harness/credentials.ts';
import { eventually } from '../../harness/eventually.ts';
import { bootstrapKey } from '../../harness/gateway.ts';
import { Chance } from '../../trust/chance.ts';
import type { Books, Caps } from '../checker/budgets.ts';
import { addUp } from '../checker/budgets.ts';
import { faultsOf } from '../checker/check.ts';
import type { Seen } from '../checker/gateways.ts';
import { transitionsOf } from '../checker/lifecycle.ts';
import { entriesOf, readLog } from '../checker/log.ts';
import { http } from './calls.ts';
import { Cluster } from './cluster.ts';
import { Follower } from './follower.ts';
import { Nemesis } from './nemesis.ts';
import type { ClusterNode } from './node.ts';
import { Notes } from './notes.ts';
import { StormClient } from './storm-client.ts';
import { StormOperator } from './storm-operator.ts';

/** In micro-dollars. Small enough that the reservations of a few operations fill them. */
const caps: Caps = { global: 360_000, org: 200_000, team: 120_000, agent: 80_000 };

// Months, because a day may end in the middle of a storm.
const policy = `
name: storm
default: allow
budget:
  monthly_limit_usd: ${caps.global / 1e6}
  org_monthly_limit_usd: ${caps.org / 1e6}
  team_monthly_limit_usd: ${caps.team / 1e6}
  agent_monthly_limit_usd: ${caps.agent / 1e6}
rules:
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: never, effect: deny, tools: [never] }
`;

/** Two orgs with two teams each, and two agents in every team. */
const agents = Array.from({ length: 8 }, (_, nth) => ({
  orgId: nth < 4 ? 'acme' : 'umbrella',
  teamId: nth % 4 < 2 ? 'red' : 'blue',
  agentId: `agent-${nth}`,
}));

export interface StormOptions {
  readonly seed: number;
  readonly ms: number;
  /** Whether things break meanwhile. */
  readonly isRough: boolean;
}

export interface Aftermath {
  /** Everything that is wrong, in words. */
  readonly faults: readonly string[];
  /** What happened, for whoever searches a fault. */
  readonly story: string;
  readonly notes: Notes;
  readonly books: Books;
}

/** Lets clients, operators and followers loose on three gateways, and then decides whether these acted as one. */
export async function runStorm({ seed, ms, isRough }: StormOptions): Promise<Aftermath> {
  const chance = new Chance(seed);
  await using cluster = await Cluster.start({ size: 3, policies: { 'storm.yaml': policy } });
  await using cleanup = new AsyncDisposableStack();
  const notes = new Notes();
  const followers = await startFollowers(cluster, chance.fork());
  cleanup.defer(async () => {
    for (const { follower } of followers) follower.stop();
    await Promise.all(followers.map(({ ended }) => ended));
  });
  // Two clients for most agents, so that they get in each other's way. Where nothing breaks, they hardly rest.
  const restMs = isRough ? 80 : 15;
  const clients = Array.from({ length: 14 }, (_, nth) => {
    const agent = agents[nth % agents.length];
    if (agent === undefined) throw new Error('there is no such agent');
    return new StormClient({ cluster, chance: chance.fork(), notes, agent, name: `client-${nth}`, restMs });
  });
  const operators = Array.from({ length: 3 }, () => new StormOperator(cluster, chance.fork(), notes, agents, isRough));
  const nemesis = new Nemesis(cluster, chance.fork());
  await Promise.all(clients.map((client) => client.register()));

  const endsAt = performance.now() + ms;
  const isOver = () => performance.now() >= endsAt;
  const trouble = isRough ? [nemesis.rage(isOver)] : [];
  await Promise.all([...trouble, ...[...clients, ...operators].map((each) => each.storm(isOver))]);

  // Everything is healed by now. What is left is ended.
  await eventually(() => Promise.all(cluster.nodes.map(expectReady)), 600);
  await operators[0]?.endEverything();
  const log = await logAtRest(cluster);
  const entries = entriesOf(log.rows);
  const moves = transitionsOf(entries);
  const lastOf = (org?: string) => moves.findLast(({ op }) => org === undefined || op.startsWith(`${org}/`));
  // If it never comes, the checker says what is missing.
  await eventually(() => {
    for (const { follower } of followers) {
      const last = follower.events.findLast(({ transition }) => transition !== undefined);
      expect(last?.transition, follower.name).toEqual(lastOf(follower.org));
    }
  }, 200).catch(() => undefined);
  const gateways = await Promise.all(cluster.nodes.map(look));

  const seen = followers.map(({ follower }) => follower);
  const found = faultsOf({ ...log, caps, told: notes, followers: seen, gateways });
  const faults = [...found, ...cluster.surprises];
  const books = addUp(entries, caps);
  const story = [
    `seed ${seed}: ${entries.length} entries, ${notes.checks.length} checks, ${notes.completed.length} completions, ${notes.controls.length} controls, ${notes.verdicts.length} verdicts, ${notes.reads.length} reads, ${notes.unknown} answers that stayed away, ${books.refusals} refusals by a cap`,
    `how full the caps were: ${JSON.stringify(books.peaks)}`,
    `the last answer that stayed away: ${notes.lastUnknown}`,
    ...nemesis.deeds,
    ...cluster.nodes.flatMap(({ ends }) => ends),
    ...seen.map(({ name, connections, events }) => `${name}: ${connections} connections, ${events.length} events`),
  ].join('\n');
  const dump = process.env['REEVE_CLUSTER_DUMP'];
  if (dump !== undefined) {
    const trails = seen.map(({ name, events, trail }) => ({ name, events, trail }));
    writeFileSync(
      `${dump}.${isRough ? 'rough' : 'busy'}`,
      JSON.stringify({ faults, entries, seen: trails, notes, gateways, logs: cluster.nodes.map(({ log }) => log) }),
    );
  }
  return { faults, story, notes, books };
}

async function startFollowers(cluster: Cluster, chance: Chance) {
  const [first] = cluster.nodes;
  if (first === undefined) throw new Error('there is no gateway');
  const { key } = await makeKey(first.gateway, { org_id: 'acme' });
  const followers = [
    new Follower(cluster, chance.fork(), { name: 'a follower of everything', key: bootstrapKey }),
    new Follower(cluster, chance.fork(), { name: 'a follower of operations', key: bootstrapKey, types: 'ops_change' }),
    new Follower(cluster, chance.fork(), { name: 'a follower within acme', key, org: 'acme' }),
  ];
  return Promise.all(followers.map(async (follower) => ({ follower, ...(await follower.start()) })));
}

/** Controls that nobody confirms still end for some seconds. So wait until nothing has been written for a while. */
async function logAtRest({ database }: Cluster) {
  for (let before = -1, since = performance.now(); ; ) {
    const log = await readLog(database.query);
    if (log.head.seq !== before) since = performance.now();
    else if (performance.now() - since > 3000) return log;
    before = log.head.seq;
    await sleep(300);
  }
}

async function expectReady(node: ClusterNode): Promise<void> {
  expect((await fetch(`${node.http}/readyz`, { signal: AbortSignal.timeout(2000) })).status).toBe(200);
}

/** Everything that a gateway lists. */
async function look(node: ClusterNode): Promise<Seen> {
  const list = async (path: string) => {
    const items: Seen['ops'][number][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await http(node, 'GET', `${path}${page}`);
      items.push(...(body['items'] as Seen['ops']));
      cursor = body['next_cursor'] as string | null;
    }
    return items;
  };
  return {
    name: node.name,
    ops: await list('/api/v1/ops?per_page=1000'),
    agents: await list('/api/v1/agents?per_page=1000'),
    approvals: await list('/api/v1/approvals?per_page=1000&state=all'),
    budgets: await list('/api/v1/budgets?per_page=1000'),
    members: (await http(node, 'GET', '/api/v1/cluster')).body['gateways'] as Seen['members'],
    verified: (await http(node, 'GET', '/api/v1/budgets/verify')).body,
  };
}
