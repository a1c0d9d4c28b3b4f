import { sweepOps } from '@reeve/core';
import { check, complete, nextOpWith, register } from './agent-deeds.ts';
import type { ClusterGateway } from './cluster.ts';
import { control } from './control-deeds.ts';
import { loggedIn } from './deed.ts';
import { people } from './people.ts';
import { caps } from './policies.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTwo, runningAt, teamOf } from './scene.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownOp } from './world.ts';

/** How long a login lasts that ends soon. */
const loginMs = 1000;

/** How much the team of an agent may still spend on this day. */
function roomIn({ gov }: ClusterGateway, { agent: { id } }: KnownOp): number {
  const { spent, reserved } = gov.ledger.read({ ...id, tier: 'team', agentId: '' });
  return caps.team - Number(spent.day) - Number(reserved);
}

/**
 * The end of an operation makes room under a cap, and a charge takes it, both at one gateway and not durable. Another gateway
 * fills the cap. Then the login of whoever did something before ends: the release is done again, and comes after the charge.
 */
async function chargeOntoRelease(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  if (two === undefined) return;
  const [one, other] = two;
  const running = [...runningAt(one, world.agents)];
  const isOwn = ({ agent, opId }: KnownOp, ended: KnownOp) => agent === ended.agent && opId !== ended.opId;
  const ended = running.filter((each) => {
    const room = roomIn(one, each);
    return each.op.reservedMicros > 0 && room > 0 && room < caps.agent && running.some((also) => isOwn(also, each));
  });
  if (ended.length === 0) return;
  const released = random.pick(ended);
  const { orgId, teamId } = released.agent.id;
  const [charging, filling] = teamOf(world.agents, orgId, teamId).filter((agent) => agent !== released.agent);
  const paused = running.find((each) => isOwn(each, released));
  if (charging === undefined || filling === undefined || paused === undefined) return;
  const room = roomIn(one, released);
  const cost = Math.min(released.op.reservedMicros, room);

  const pausing = async () => control(one, await loggedIn(one, random.pick(people), loginMs), paused, 'pause');
  stage.does('control an operation', one, pausing);
  await cluster.hears(one);
  stage.does('complete', one, () => complete(stage, one, released, 0));
  await cluster.hears(one);
  const charge = { opId: nextOpWith('search', charging), cost };
  stage.does('check', one, () => check(stage, one, charging, charge));
  await cluster.hears(one);
  one.endTurn();
  const fill = { opId: nextOpWith('search', filling), cost: room };
  stage.does('check', other, () => check(stage, other, filling, fill));
  await cluster.finishes(other);
  stage.passes(loginMs);
  await cluster.finishes(one);
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
  // A token may have expired meanwhile.
  for (const agent of [mine, theirs]) stage.does('register', one, () => register(stage, one, agent, world.root));
  await cluster.finishes(one);
  await cluster.calm();
  const cost = Math.ceil(roomBelowShare(one, released) / 2);

  const charge = { opId: nextOpWith('search', mine), cost, runId: '' };
  stage.does('check', one, () => check(stage, one, mine, charge));
  await cluster.hears(one);
  one.endTurn();
  stage.does('complete', one, () => complete(stage, one, released, 0));
  await cluster.hears(one);
  one.endTurn();
  const elsewhere = { opId: nextOpWith('search', theirs), cost, runId: '' };
  stage.does('check', other, () => check(stage, other, theirs, elsewhere));
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

/** What happens to the reservations and the rows of operations. */
export const opScenes: readonly Scene[] = [
  { name: 'charge onto a release', weight: 1, play: chargeOntoRelease },
  { name: 'release behind a charge', weight: 2, play: releaseBehindCharge },
  { name: 'leave a row behind', weight: 0.3, play: leaveRowBehind },
];
