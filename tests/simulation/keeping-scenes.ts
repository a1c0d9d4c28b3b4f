import { forgetEndedDelegations, isSuspended, sweepOps } from '@reeve/core';
import { complete, leave } from './agent-deeds.ts';
import type { ClusterGateway } from './cluster.ts';
import { asCaller } from './deed.ts';
import { delegate } from './delegation-deeds.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTwo, runningAt, teamOf } from './scene.ts';
import { checkOf, coversScene, registerAgain } from './scene-deeds.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownAgent, KnownOp } from './world.ts';

/** More than any gateway of a simulation has to save. */
const allRows = 1000;
/** For how long a delegation is remembered at least. */
const newForMs = 60_000;

/** A gateway does some of its own work. It is not durable yet. */
function works(stage: SceneStage, gateway: ClusterGateway, name: string, act: () => unknown): void {
  stage.does(name, gateway, () => gateway.gov.journal.ownTurn(act));
}

/** Agents with tokens that nobody has stopped. */
function freeAt({ world }: SceneStage, { gov }: ClusterGateway): readonly KnownAgent[] {
  return world.agents.filter(({ id, tokens, isLost }) => {
    const known = gov.directory.find(id);
    return known !== undefined && tokens.length > 0 && !isLost && !isSuspended(gov, known);
  });
}

/** A gateway has saved all balances, and removed the rows of those that say nothing. */
async function savesBalances(stage: SceneStage, gateway: ClusterGateway): Promise<void> {
  for (let step = 0; step < 3; step++) {
    works(stage, gateway, 'save balances', () => gateway.gov.balances.save(allRows));
    await stage.cluster.finishes(gateway);
  }
}

/**
 * Two gateways save the same balances. The first one begins, and the second one saves all of them as they are after one more
 * booking, and is durable first. Then the first one starts again.
 */
async function saveBalancesTogether(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  if (two === undefined) return;
  const [one, other] = two;
  const running = [...runningAt(one, world.agents)];
  if (running.length < 2) return;
  const first = random.pick(running);
  const second = random.pick(running.filter(({ op }) => op !== first.op));
  await registerAgain(stage, one, [...new Set([first.agent, second.agent])]);
  const books = async (gateway: ClusterGateway, op: KnownOp) => {
    stage.does('complete', gateway, () => complete(stage, gateway, op, 1e5));
    await cluster.finishes(gateway);
  };
  await savesBalances(stage, one);
  await books(one, first);
  await cluster.calm();

  // It writes some rows, and leaves the mark to a later step.
  works(stage, one, 'save balances', () => one.gov.balances.save(2));
  await cluster.hears(one);
  await books(other, second);
  await savesBalances(stage, other);
  await cluster.finishes(one);
  await stage.restarts(one);
}

/**
 * An operation is over after it has run for so long that it gets a row. One gateway has forgotten it, and another one has yet to
 * write its row.
 */
async function leavesRowToOther(stage: SceneStage, one: ClusterGateway, agent: KnownAgent): Promise<KnownOp> {
  const { cluster } = stage;
  const op = checkOf(stage, one, agent);
  await cluster.finishes(one);
  await cluster.calm();
  stage.passes(settings.opsTtlMs + settings.sweepTickMs + 1000);
  stage.does('complete', one, () => complete(stage, one, op, 0));
  await cluster.finishes(one);
  return op;
}

/** A gateway forgets what is over. */
async function sweeps(stage: SceneStage, gateway: ClusterGateway): Promise<void> {
  await stage.cluster.calm();
  stage.passes(settings.opsTtlMs + 100);
  works(stage, gateway, 'sweep', () => sweepOps(gateway.gov));
  await stage.cluster.finishes(gateway);
  await stage.cluster.calm();
}

/** A gateway writes the rows of operations that run or ran for long. */
async function savesOps(stage: SceneStage, gateway: ClusterGateway): Promise<void> {
  works(stage, gateway, 'save operations', () => gateway.checkpoint.step(allRows));
  await stage.cluster.finishes(gateway);
}

/** An agent leaves where its last operation is forgotten. Another gateway writes the row of that one first. */
async function leaveBesideSave(stage: SceneStage): Promise<void> {
  const { random, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  if (two === undefined) return;
  const [one, other] = two;
  // An agent with other operations is remembered until these are forgotten.
  const idle = freeAt(stage, one).filter(({ id }) => {
    const known = one.gov.directory.find(id);
    return known !== undefined && one.gov.ops.of(known).size === 0;
  });
  if (idle.length === 0) return;
  const agent = random.pick(idle);
  await registerAgain(stage, one, [agent]);
  await leavesRowToOther(stage, one, agent);
  await sweeps(stage, one);

  stage.does('leave', one, () => leave(stage, one, agent));
  await cluster.hears(one);
  await savesOps(stage, other);
  await cluster.finishes(one);
}

/** The same where a delegation is forgotten with its agent. Then the gateway that has forgotten it starts again. */
async function forgetDelegationBesideSave(stage: SceneStage): Promise<void> {
  const { random, world, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  if (two === undefined) return;
  const [one, other] = two;
  const agent = random.pick(world.delegates);
  const [delegator] = teamOf(world.agents, agent.id.orgId, agent.id.teamId);
  if (delegator === undefined) return;
  await registerAgain(stage, one, [delegator]);
  const ends = async () => {
    const ending = { kind: 'end_delegation', agent: agent.id, reason: '' } as const;
    stage.does('end a delegation', one, () => asCaller(stage, one, world.root, (by) => one.execute({ ...ending, by })));
    await cluster.finishes(one);
  };
  // It may act for somebody else.
  await ends();
  stage.does('delegate', one, () => delegate(stage, one, delegator, agent, coversScene));
  await cluster.finishes(one);
  await leavesRowToOther(stage, one, agent);
  await ends();
  stage.passes(newForMs);
  await sweeps(stage, one);

  works(stage, one, 'forget delegations', () => forgetEndedDelegations(one.gov, allRows));
  await cluster.hears(one);
  await savesOps(stage, other);
  await cluster.finishes(one);
  await stage.restarts(one);
}

/** What happens to the rows of balances and operations. */
export const keepingScenes: readonly Scene[] = [
  { name: 'save balances together', weight: 2, play: saveBalancesTogether },
  { name: 'leave beside a save', weight: 2, play: leaveBesideSave },
  { name: 'forget a delegation beside a save', weight: 2, play: forgetDelegationBesideSave },
];
