import { sweepOps, tiersOf } from '@reeve/core';
import { complete } from './agent-deeds.ts';
import type { ClusterGateway } from './cluster.ts';
import { control } from './control-deeds.ts';
import { loggedIn } from './deed.ts';
import { people } from './people.ts';
import { caps, rates } from './policies.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTeam, drawTwo, runningAt, teamOf } from './scene.ts';
import { checkOf, loginMs, registerAgain } from './scene-deeds.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownAgent, KnownOp } from './world.ts';

/** How much is left of these tiers on this day. */
function roomIn({ gov }: ClusterGateway, { id }: KnownAgent, tiers: readonly (keyof typeof caps)[]): number {
  const read = tiersOf(id).filter(({ tier }) => tiers.includes(tier));
  const rooms = read.map((of) => {
    const { spent, reserved } = gov.ledger.read(of);
    return caps[of.tier] - Number(spent.day) - Number(reserved);
  });
  return Math.min(...rooms);
}

const shared = ['team', 'org', 'global'] as const;

/** What an agent can charge at once. */
function mostFor(gateway: ClusterGateway, agent: KnownAgent): number {
  return roomIn(gateway, agent, ['agent', ...shared]);
}

/** What a scene has charged counts no longer, so that others find room again. */
async function giveBack(stage: SceneStage, gateway: ClusterGateway, ops: readonly KnownOp[]): Promise<void> {
  await stage.cluster.calm();
  for (const op of ops) stage.does('complete', gateway, () => complete(stage, gateway, op, 0));
}

/** Two agents of a team charge at once, at two gateways. What they share has room for each of the charges, and not for both. */
async function chargeTogether(stage: SceneStage): Promise<void> {
  const { random, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length < 2) return;
  const mine = random.pick(team);
  const theirs = random.pick(team.filter((agent) => agent !== mine));
  const [one] = two;
  const costs = [mostFor(one, mine), mostFor(one, theirs)] as const;
  if (Math.min(...costs) <= 0 || costs[0] + costs[1] <= roomIn(one, mine, shared)) return;
  await registerAgain(stage, one, [mine, theirs]);
  const charges = [
    checkOf(stage, two[0], mine, { cost: costs[0] }),
    checkOf(stage, two[1], theirs, { cost: costs[1] }),
  ];
  for (const gateway of two) await cluster.finishes(gateway);
  await giveBack(stage, one, charges);
}

/**
 * The end of an operation makes room under a cap, and a charge takes it, both at one gateway and not durable. Another gateway
 * fills the cap. Then the login of whoever did something before ends: the release is done again, and comes after the charge.
 */
async function chargeOntoRelease(stage: SceneStage): Promise<void> {
  const { random, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  const first = random.int(team.length);
  const [releasing, charging, filling] = [...team.slice(first), ...team.slice(0, first)];
  if (two === undefined || releasing === undefined || charging === undefined || filling === undefined) return;
  const [one, other] = two;
  const reserved = Math.min(mostFor(one, releasing), roomIn(one, releasing, shared) - 1e6);
  if (reserved <= 0) return;
  await registerAgain(stage, one, [releasing, charging, filling]);
  const [released, paused] = [checkOf(stage, one, releasing, { cost: reserved }), checkOf(stage, one, releasing)];
  await cluster.finishes(one);
  await cluster.calm();
  const room = roomIn(one, releasing, shared);
  const cost = Math.min(reserved, mostFor(one, charging));
  if (cost <= 0 || mostFor(other, filling) < room) return giveBack(stage, one, [released]);

  const pausing = async () => control(one, await loggedIn(one, random.pick(people), loginMs), paused, 'pause');
  stage.does('control an operation', one, pausing);
  await cluster.hears(one);
  stage.does('complete', one, () => complete(stage, one, released, 0));
  await cluster.hears(one);
  const charge = checkOf(stage, one, charging, { cost });
  await cluster.hears(one);
  one.endTurn();
  const fill = checkOf(stage, other, filling, { cost: room });
  await cluster.finishes(other);
  stage.passes(loginMs);
  await cluster.finishes(one);
  await giveBack(stage, one, [charge, fill]);
}

/** How much the team of an agent may spend until 80 % of its cap are used up. None if somebody was told of that already. */
function roomBelowShare({ gov }: ClusterGateway, { agent: { id } }: KnownOp): number {
  const { spent, reserved, noticed } = gov.ledger.read({ ...id, tier: 'team', agentId: '' });
  return noticed.day >= 80 ? 0 : caps.team * 0.8 - Number(spent.day) - Number(reserved);
}

/**
 * A charge waits to be durable, and a release behind it. Another gateway charges first. Both charges together use up a share of
 * the cap, until the release.
 */
async function releaseBehindCharge(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  if (two === undefined) return;
  const [one, other] = two;
  const held = [...runningAt(one, world.agents)].filter((each) => {
    const room = roomBelowShare(one, each);
    return each.op.reservedMicros > 0 && room > 0 && room < caps.agent;
  });
  if (held.length === 0) return;
  const released = random.pick(held);
  const { orgId, teamId } = released.agent.id;
  const others = teamOf(world.agents, orgId, teamId).filter((agent) => agent !== released.agent);
  if (others.length < 2) return;
  const mine = random.pick(others);
  const theirs = random.pick(others.filter((agent) => agent !== mine));
  await registerAgain(stage, one, [mine, theirs]);
  const cost = Math.ceil(roomBelowShare(one, released) / 2);

  checkOf(stage, one, mine, { cost });
  await cluster.hears(one);
  one.endTurn();
  stage.does('complete', one, () => complete(stage, one, released, 0));
  await cluster.hears(one);
  one.endTurn();
  checkOf(stage, other, theirs, { cost });
  await cluster.finishes(other);
  await cluster.finishes(one);
}

/**
 * The row of an operation says that it runs. It ends and is swept, but the row cannot be removed, and nobody sweeps for long
 * while the gateway saves operations. Then it starts again.
 */
async function leaveRowBehind(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [one] = drawTwo(stage) ?? [];
  if (one === undefined) return;
  const { gov, checkpoint } = one;
  const saved = [...runningAt(one, world.agents)].filter(({ op }) => op.savedSeq > 0);
  if (saved.length === 0) return;
  const ended = random.pick(saved);
  const inTurn = async (name: string, act: () => unknown, fate: 'done' | 'refused' = 'done') => {
    stage.does(name, one, () => gov.journal.ownTurn(act));
    await cluster.finishes(one, fate);
  };
  stage.does('complete', one, () => complete(stage, one, ended, 0));
  await cluster.finishes(one);
  stage.passes(settings.opsTtlMs + 100);
  await inTurn('sweep', () => sweepOps(gov), 'refused');
  for (let round = 0; round < 5; round++) {
    await inTurn('save operations', () => checkpoint.step(1000));
    stage.passes(settings.opsTtlMs);
  }
  await stage.restarts(one);
}

/**
 * Two agents of an org check at once, at two gateways, where its rate has room for two checks more. One agent takes both, and the
 * other one takes none that anybody is told of.
 */
async function checkTogether(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const { orgId } = world.agent(random).id;
  const agents = world.agents.filter(({ id, tokens, isLost }) => id.orgId === orgId && tokens.length > 0 && !isLost);
  const [first, second] = agents;
  if (two === undefined || first === undefined || second === undefined) return;
  const [one, other] = two;
  await registerAgain(stage, one, agents);
  const [ofAgent, ofOrg] = rates;
  stage.passes(ofOrg.windowMs);
  const asking = agents.flatMap((agent) => Array<KnownAgent>(ofAgent.max).fill(agent));
  for (let left = ofOrg.max - 2; left > 0; left -= asking.length) {
    for (const agent of asking.slice(0, left)) checkOf(stage, one, agent);
    await cluster.finishes(one);
    stage.passes(ofAgent.windowMs);
  }
  await cluster.calm();
  for (let nth = 0; nth < 2; nth++) checkOf(stage, one, first);
  checkOf(stage, other, second);
  for (const gateway of two) await cluster.finishes(gateway);
}

/** What happens to the reservations, the rates and the rows of operations. */
export const opScenes: readonly Scene[] = [
  { name: 'charge together', weight: 1, play: chargeTogether },
  { name: 'charge onto a release', weight: 1, play: chargeOntoRelease },
  { name: 'release behind a charge', weight: 2, play: releaseBehindCharge },
  { name: 'check together', weight: 0.3, play: checkTogether },
  { name: 'leave a row behind', weight: 0.3, play: leaveRowBehind },
];
