import { createKey, expireApprovals } from '@reeve/core';
import { changePolicy, drawPolicy, endKey, keepKey } from './admin-deeds.ts';
import { check, complete, leave, nextOpWith, register } from './agent-deeds.ts';
import { Broken } from './broken.ts';
import type { ClusterGateway } from './cluster.ts';
import { control } from './control-deeds.ts';
import { asCaller } from './deed.ts';
import { delegate } from './delegation-deeds.ts';
import type { tools } from './policies.ts';
import { askAboutResult } from './result-deeds.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTeam, runningAt, teamOf } from './scene.ts';
import { checkOf, coversScene } from './scene-deeds.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownAgent, KnownKey } from './world.ts';

/** How many operations somebody pauses at once. */
const mostPaused = 5;

/** How often somebody tries to update gateways before others are updated. */
const mostUpdates = 8;

/**
 * A newer release that runs beside the present one, and one of the present release, that have read everything so far. If there
 * are none, gateways start again, as far as newer releases run at all.
 */
async function drawReleases(stage: SceneStage): Promise<readonly [ClusterGateway, ClusterGateway] | undefined> {
  const { random, bias, cluster } = stage;
  if (!bias.releases.includes('newer')) return undefined;
  for (let tries = 0; tries < mostUpdates; tries++) {
    const updated = cluster.gateways.filter(({ ground }) => ground.release !== 'older');
    const whole = updated.filter(({ isUp, ground }) => isUp && ground.outOfReach.isNobody);
    const newer = whole.filter(({ ground }) => ground.release === 'newer');
    const present = whole.filter(({ ground }) => ground.release === 'present');
    if (newer.length > 0 && present.length > 0) return [random.pick(newer), random.pick(present)];
    if (updated.length < 2) return undefined;
    await stage.restarts(
      random.pick(whole.length < updated.length ? updated.filter((each) => !whole.includes(each)) : updated),
    );
    await cluster.calm();
  }
  return undefined;
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

/** Whoever holds a key makes one more, for an org. Undefined if that is refused. */
async function makesKey(
  stage: SceneStage,
  gateway: ClusterGateway,
  by: KnownKey,
  orgId: string,
): Promise<KnownKey | undefined> {
  const made: KnownKey[] = [];
  const bound = { label: 'a key of an org', scopes: ['admin'], orgId, teamId: null, ttlMs: null } as const;
  const making = async () => {
    const key = await asCaller(stage, gateway, by, (as) => createKey(gateway.access, as, bound));
    made.push(keepKey(stage, key));
  };
  stage.does('make a key', gateway, making);
  await stage.cluster.finishes(gateway);
  return made[0];
}

/** Somebody changes a policy at a gateway that could not read its newest version. */
async function changeUnreadPolicy(stage: SceneStage): Promise<void> {
  const { world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  if (newer === undefined || present === undefined) return;
  const name = drawPolicy(stage);
  const changing = (gateway: ClusterGateway) => () => changePolicy(stage, gateway, name, world.root);
  await tellsUnread(stage, newer, /^policy_/, ['change a policy', changing(newer)]);
  stage.does('change a policy', present, changing(present));
  await cluster.finishes(present);
}

/**
 * Two agents act for others, one for the other. A delegate makes a check. Then its own delegate makes one, and asks about a result,
 * at a gateway that could not read the first one.
 */
async function checkBelowUnread(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  if (newer === undefined || present === undefined) return;
  const above = random.pick(world.delegates);
  const { orgId, teamId } = above.id;
  const isBelow = ({ id }: KnownAgent) => id.orgId === orgId && id.teamId === teamId && id.agentId !== above.id.agentId;
  const below = random.pick(world.delegates.filter(isBelow));
  const [delegator] = teamOf(world.agents, orgId, teamId);
  if (delegator === undefined) return;
  // All of this, everybody can read.
  stage.does('register', present, () => register(stage, present, delegator, world.root));
  await cluster.finishes(present);
  for (const [by, to] of [
    [delegator, above],
    [above, below],
  ] as const) {
    // It acts for somebody else, or has been registered by itself.
    const ending = () =>
      asCaller(stage, present, world.root, (as) =>
        present.execute({ kind: 'end_delegation', by: as, agent: to.id, reason: '' }),
      );
    stage.does('end a delegation', present, ending);
    stage.does('leave', present, () => leave(stage, present, to));
    await cluster.finishes(present);
    stage.does('delegate', present, () => delegate(stage, present, by, to, coversScene));
    await cluster.finishes(present);
  }
  await cluster.calm();
  const op = checkOf(stage, present, below);
  await cluster.finishes(present);
  await cluster.calm();
  await tellsUnread(stage, newer, /^delegation_/, ['check', () => check(stage, newer, above)]);
  stage.does('ask about a result', present, () => askAboutResult(stage, present, op));
  stage.does('check', present, () => check(stage, present, below));
  await cluster.finishes(present);
  stage.does('complete', present, () => complete(stage, present, op, 1e5));
  await cluster.finishes(present);
}

/** An operation of a run gives it a label. Others act in the run at a gateway that could not read that. */
async function actInUnreadRun(stage: SceneStage): Promise<void> {
  const { random, cluster, step } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  const team = drawTeam(stage);
  if (newer === undefined || present === undefined || team.length < 2) return;
  const labelling = random.pick(team);
  const runId = `unread-${step}`;
  const checkAt = (gateway: ClusterGateway, agent: KnownAgent, tool: (typeof tools)[number]) => () =>
    check(stage, gateway, agent, { runId, opId: nextOpWith(tool, agent), cost: 0 });
  await tellsUnread(stage, newer, /^labels_given$/, ['check', checkAt(newer, labelling, 'search')]);
  stage.does('check', present, checkAt(present, random.pick(team.filter((agent) => agent !== labelling)), 'send'));
  await cluster.finishes(present);
}

/**
 * Operations are paused by a key of their org, and in the same commit by a wider one. Whoever did that saves operations, and then
 * a gateway saves them that could not read by which key.
 */
async function saveUnreadControl(stage: SceneStage): Promise<void> {
  const { world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  if (newer === undefined || present === undefined) return;
  const team = drawTeam(stage).slice(0, mostPaused);
  for (const agent of team) {
    const said = { opId: nextOpWith('read', agent), cost: 0 };
    stage.does('check', newer, () => check(stage, newer, agent, said));
  }
  await cluster.finishes(newer);
  const ops = [...runningAt(newer, team)].slice(0, mostPaused);
  const orgId = ops[0]?.agent.id.orgId;
  if (orgId === undefined) return;
  const pausing = (key: KnownKey) =>
    asCaller(stage, newer, key, async (by) => {
      await Promise.all(ops.map(async (op) => await control(newer, by, op, 'pause')));
    });
  const key = (await makesKey(stage, newer, world.root, orgId)) ?? world.root;
  const pausingTwice = () => Promise.all([pausing(key), pausing(world.root)]);
  await tellsUnread(stage, newer, /^receipt_saved$/, ['control operations', pausingTwice]);
  stage.passes(settings.opsTtlMs + 100);
  for (const saver of [newer, present]) {
    const saving = () => saver.gov.journal.ownTurn(() => saver.checkpoint.step(1000));
    stage.does('save operations', saver, saving);
    await cluster.finishes(saver);
  }
}

/** A key is ended, and its holder makes another one by it at a gateway that could not read that. */
async function useUnreadKey(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  if (newer === undefined || present === undefined) return;
  const { orgId } = world.agent(random).id;
  const key = await makesKey(stage, present, world.root, orgId);
  if (key === undefined) return;
  await cluster.calm();
  await tellsUnread(stage, newer, /^api_key_saved$/, ['end a key', () => endKey(stage, newer, key, world.root)]);
  await makesKey(stage, present, key, orgId);
}

/** Somebody stops what waits for people, at a gateway that could not read whom it asked. The others call them off. */
async function endUnreadApproval(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  const team = drawTeam(stage);
  if (newer === undefined || present === undefined || team.length === 0) return;
  const agent = random.pick(team);
  const opId = nextOpWith('ask', agent);
  const checking = () => check(stage, newer, agent, { opId, cost: 0 });
  await tellsUnread(stage, newer, /^approval_saved$/, ['check', checking]);
  const known = newer.gov.directory.find(agent.id);
  const approval = newer.gov.approvals.ofOp(agent.id, opId);
  if (known === undefined || approval === undefined) return;
  const ending = () => asCaller(stage, present, world.root, (by) => control(present, by, { agent, opId }, 'terminate'));
  stage.does('control operations', present, ending);
  await cluster.finishes(present);
  await cluster.calm();
  stage.does('expire approvals', newer, () => expireApprovals(newer.gov, 50));
  await cluster.finishes(newer);
  const op = newer.gov.ops.find(known, opId);
  if (newer.gov.approvals.find(approval.id)?.state === 'open' && op?.state !== 'pending') {
    throw new Broken(`people are still asked about ${opId} of ${known.key}, which is ${op?.state ?? 'not known'}`);
  }
}

/** An agent whose operations have rows leaves, and gateways that cannot read all of that start again. */
async function startAfterLeaving(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const [newer, present] = (await drawReleases(stage)) ?? [];
  if (newer === undefined || present === undefined) return;
  const saved = [...runningAt(present, world.agents)].filter(({ op }) => op.savedSeq > 0);
  if (saved.length === 0) return;
  const { agent } = random.pick(saved);
  await tellsUnread(stage, newer, /^$/, ['leave', () => leave(stage, newer, agent)]);
  for (const gateway of [...cluster.gateways]) await stage.restarts(gateway);
}

/** What happens where a newer release runs beside the present one, which cannot read all of it. */
export const releaseScenes: readonly Scene[] = [
  { name: 'change a policy that could not be read', weight: 1, play: changeUnreadPolicy },
  { name: 'check below a delegate that could not be read', weight: 2, play: checkBelowUnread },
  { name: 'act in a run that could not be read', weight: 1, play: actInUnreadRun },
  { name: 'use a key whose end could not be read', weight: 2, play: useUnreadKey },
  { name: 'save a control that could not be read', weight: 1, play: saveUnreadControl },
  { name: 'end what asks people whom nobody could read', weight: 1, play: endUnreadApproval },
  { name: 'start after an agent has left', weight: 0.5, play: startAfterLeaving },
];
