import type { Op } from '@reeve/core';
import { check, complete, nextOpWith } from './agent-deeds.ts';
import type { ClusterGateway } from './cluster.ts';
import { control } from './control-deeds.ts';
import { asCaller } from './deed.ts';
import type { tools } from './policies.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTeam, drawTwo, runningAt } from './scene.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownAgent } from './world.ts';

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
  stage.does('save runs', one, () => one.gov.journal.ownTurn(() => one.gov.runKeeper.save(100)));
  await cluster.hears(one);
  await cluster.finishes(one);
}

/**
 * A check in a quiet run waits to be durable, and another gateway makes one there first. Then the database refuses the one
 * that waits. Long after what came before, but soon after the check that stands, somebody acts in the run again.
 */
async function actInRunAfterRefusal(stage: SceneStage): Promise<void> {
  const { random, cluster, step } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length < 2) return;
  const [one, other] = two;
  const acting = random.pick(team);
  // What its own agent does meanwhile would make it ask again.
  const waiting = random.pick(team.filter((agent) => agent !== acting));
  const runId = `quiet-${step}`;
  const checkAt = (gateway: ClusterGateway, agent: KnownAgent, tool: (typeof tools)[number]) => {
    const op = { agent, opId: nextOpWith(tool, agent) };
    stage.does('check', gateway, () => check(stage, gateway, agent, { runId, opId: op.opId, cost: 0 }));
    return op;
  };
  const actAtOther = async () => {
    const op = checkAt(other, acting, 'search');
    await cluster.finishes(other);
    stage.does('complete', other, () => complete(stage, other, op, 0));
    await cluster.finishes(other);
  };
  await actAtOther();
  await cluster.calm();
  const { orgId, teamId } = acting.id;
  const run = one.gov.runs.find({ orgId, teamId, agentId: '', runId });
  if (run === undefined) return;
  const quietAt = run.lastAt + settings.runTtlMs;
  const passesUntil = (time: number) => stage.passes(time - one.clock.now());

  passesUntil(quietAt - 500);
  checkAt(one, waiting, 'search');
  await cluster.hears(one);
  await actAtOther();
  one.endTurn();
  await cluster.settled();
  // It learns that the other one was first, and commits once more.
  cluster.log.workFor(one.ground, 'done');
  await cluster.finishes(one, 'refused');
  passesUntil(quietAt + 500);
  checkAt(one, waiting, 'send');
  await cluster.finishes(one);
}

/** What happens to the runs of agents. */
export const runScenes: readonly Scene[] = [
  { name: 'begin together', weight: 3, play: beginTogether },
  { name: 'forget a run that has not ended', weight: 1, play: forgetUnendedRun },
  { name: 'act in a run after a refusal', weight: 1, play: actInRunAfterRefusal },
];
