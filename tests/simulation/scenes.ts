import { ownWork, sweepOps } from '@reeve/core';
import type { Op } from '@reeve/core';
import { changePolicy, drawPolicy } from './admin-deeds.ts';
import { check, complete, leave, nextOpWith } from './agent-deeds.ts';
import type { Cluster, ClusterGateway } from './cluster.ts';
import { control } from './control-deeds.ts';
import type { Stage } from './deed.ts';
import { asCaller, loggedIn } from './deed.ts';
import { delegate } from './delegation-deeds.ts';
import { people } from './people.ts';
import { caps } from './policies.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownAgent, KnownOp } from './world.ts';

/** What scenes play on. */
export interface SceneStage extends Stage {
  readonly cluster: Cluster;
  /** Somebody does something at a gateway. */
  readonly does: (name: string, gateway: ClusterGateway, work: () => Promise<unknown>) => void;
  /** Time passes, and gateways listen. */
  readonly passes: (ms: number) => void;
  /** A gateway ends in the middle of all that it does, and another one starts in its place. */
  readonly restarts: (gateway: ClusterGateway) => Promise<void>;
}

/**
 * Several things that must meet for a fault to show, and that meet too rarely by themselves. A scene brings them about, where it
 * finds what it needs; what becomes of them, the judge says.
 */
export interface Scene {
  readonly name: string;
  readonly weight: number;
  readonly play: (stage: SceneStage) => Promise<void> | void;
}

/** How long a login lasts that ends soon. */
const loginMs = 1000;

/** Two gateways that serve, or nothing. */
function drawTwo({ random, cluster }: SceneStage): readonly [ClusterGateway, ClusterGateway] | undefined {
  const up = cluster.gateways.filter(({ isUp, ground }) => isUp && ground.outOfReach.isNobody);
  if (up.length < 2) return undefined;
  const one = random.int(up.length);
  const [first, second] = [up[one], up[(one + 1 + random.int(up.length - 1)) % up.length]];
  return first === undefined || second === undefined ? undefined : [first, second];
}

/** Agents of one team with tokens. */
function drawTeam({ random, world }: SceneStage): readonly KnownAgent[] {
  const { orgId, teamId } = world.agent(random).id;
  return teamOf(world.agents, orgId, teamId);
}

function teamOf(agents: readonly KnownAgent[], org: string, team: string): readonly KnownAgent[] {
  return agents.filter(({ id, tokens, isLost }) => {
    return id.orgId === org && id.teamId === team && tokens.length > 0 && !isLost;
  });
}

/** What gives a label to a new run, and what is decided by the labels of a run. */
const labels = ['search', 'ask'] as const;
const reads = ['send', 'edit', 'edit', 'ask', 'pay'] as const;

/** Agents of a team begin a run together, at two gateways: those that come later rest on what the first ones do to it. */
function beginTogether(stage: SceneStage): void {
  const { random, step } = stage;
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length === 0) return;
  const [one, other] = two;
  for (let count = 0; count < 3; count++) {
    for (const [gateway, uses] of [
      [one, labels],
      [other, reads],
    ] as const) {
      const agent = random.pick(team);
      const said = { runId: `common-${step}`, opId: nextOpWith(random.pick(uses), agent) };
      stage.does('check', gateway, () => check(stage, gateway, agent, said));
    }
  }
}

/** What agents of the world run at a gateway. */
function* runningAt({ gov }: ClusterGateway, agents: readonly KnownAgent[]): Generator<KnownOp & { readonly op: Op }> {
  for (const agent of agents) {
    const known = gov.directory.find(agent.id);
    if (known === undefined || agent.tokens.length === 0 || agent.isLost) continue;
    for (const op of gov.ops.of(known)) if (op.state === 'running') yield { agent, opId: op.opId, op };
  }
}

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

/**
 * The last operation of a labelled run ends, and the run is forgotten long after; neither is durable yet. Meanwhile another
 * gateway has paused the operation, so that it does not end.
 */
async function forgetUnendedRun(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  if (two === undefined) return;
  const [one, other] = two;
  const { runs } = one.gov;
  const isLast = ({ op, agent: { id } }: { readonly op: Op; readonly agent: KnownAgent }) => {
    const place = { ...id, runId: op.runId, agentId: op.runId === '' ? id.agentId : '' };
    return runs.find(place)?.underWay === 1 && runs.labels.of({ of: 'run', place }).length > 0;
  };
  const last = [...runningAt(one, world.agents)].filter(isLast);
  if (last.length === 0) return;
  const ended = random.pick(last);
  stage.does('complete', one, () => complete(stage, one, ended, 0));
  await cluster.hears(one);
  one.endTurn();
  const pausing = () => asCaller(stage, other, world.root, (by) => control(other, by, ended, 'pause'));
  stage.does('control an operation', other, pausing);
  await cluster.finishes(other);
  stage.passes(settings.runTtlMs + 1000);
  stage.does('save runs', one, () => one.gov.journal.turn(ownWork, () => one.gov.runKeeper.save(100)));
  await cluster.hears(one);
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
    stage.does(name, one, () => gov.journal.turn(ownWork, act));
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

/** A newer release that runs beside the present one, and one of the present release that has read everything so far. */
function drawReleases({ random, cluster }: SceneStage): readonly [ClusterGateway, ClusterGateway] | undefined {
  const whole = cluster.gateways.filter(({ isUp, ground }) => isUp && ground.outOfReach.isNobody);
  const newer = whole.filter(({ ground }) => ground.release === 'newer');
  const present = whole.filter(({ ground }) => ground.release === 'present');
  return newer.length === 0 || present.length === 0 ? undefined : [random.pick(newer), random.pick(present)];
}

/** A newer release does something, and the others cannot read the facts of these kinds. */
async function tellsUnread(
  stage: SceneStage,
  newer: ClusterGateway,
  kinds: RegExp,
  what: readonly [name: string, work: () => Promise<unknown>],
): Promise<void> {
  const { cluster } = stage;
  cluster.log.laterKinds = kinds;
  try {
    stage.does(what[0], newer, what[1]);
    await cluster.finishes(newer);
  } finally {
    cluster.log.laterKinds = undefined;
  }
  await cluster.calm();
}

/** Somebody changes a policy at a gateway that could not read its newest version. */
async function changeUnreadPolicy(stage: SceneStage): Promise<void> {
  const { world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = drawReleases(stage) ?? [];
  if (newer === undefined || present === undefined) return;
  const name = drawPolicy(stage);
  const changing = (gateway: ClusterGateway) => () => changePolicy(stage, gateway, name, world.root);
  await tellsUnread(stage, newer, /^policy_/, ['change a policy', changing(newer)]);
  stage.does('change a policy', present, changing(present));
  await cluster.finishes(present);
}

/**
 * Two agents act for others, one for the other. A delegate makes a check. Then its own delegate makes one, at a gateway that
 * could not read the first one.
 */
async function checkBelowUnread(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = drawReleases(stage) ?? [];
  if (newer === undefined || present === undefined) return;
  const above = random.pick(world.delegates);
  const { orgId, teamId } = above.id;
  const below = random.pick(world.delegates.filter(({ id }) => id.orgId === orgId && id.teamId === teamId));
  const [delegator] = teamOf(world.agents, orgId, teamId);
  if (delegator === undefined || below === above) return;
  for (const [by, to] of [
    [delegator, above],
    [above, below],
  ] as const) {
    // It acts for somebody else, mostly.
    const ending = () =>
      asCaller(stage, newer, world.root, (as) =>
        newer.execute({ kind: 'end_delegation', by: as, agent: to.id, reason: '' }),
      );
    stage.does('end a delegation', newer, ending);
    await cluster.finishes(newer);
    stage.does('delegate', newer, () => delegate(stage, newer, by, to));
    await cluster.finishes(newer);
  }
  await cluster.calm();
  await tellsUnread(stage, newer, /^delegation_/, ['check', () => check(stage, newer, above)]);
  stage.does('check', present, () => check(stage, present, below));
  await cluster.finishes(present);
}

/** An agent whose operations have rows leaves, and gateways that cannot read all of that start again. */
async function startAfterLeaving(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = drawReleases(stage) ?? [];
  if (newer === undefined || present === undefined) return;
  const saved = [...runningAt(present, world.agents)].filter(({ op }) => op.savedSeq > 0);
  if (saved.length === 0) return;
  const { agent } = random.pick(saved);
  await tellsUnread(stage, newer, /^$/, ['leave', () => leave(stage, newer, agent)]);
  for (const gateway of [...cluster.gateways]) await stage.restarts(gateway);
}

export const scenes: readonly Scene[] = [
  { name: 'begin together', weight: 3, play: beginTogether },
  { name: 'charge onto a release', weight: 1, play: chargeOntoRelease },
  { name: 'forget a run that has not ended', weight: 1, play: forgetUnendedRun },
  { name: 'leave a row behind', weight: 0.3, play: leaveRowBehind },
  { name: 'change a policy that could not be read', weight: 1, play: changeUnreadPolicy },
  { name: 'check below a delegate that could not be read', weight: 1, play: checkBelowUnread },
  { name: 'start after an agent has left', weight: 0.5, play: startAfterLeaving },
];
