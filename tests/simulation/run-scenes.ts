import { check, complete, nextOpWith } from './agent-deeds.ts';
import { control } from './control-deeds.ts';
import { asCaller, loggedIn } from './deed.ts';
import { people } from './people.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTeam, drawTwo } from './scene.ts';
import { checkOf, registerAgain } from './scene-deeds.ts';
import { settings } from './virtual-gateway.ts';

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

/** A check in a run waits to be durable, and another gateway labels the run first. Nothing else is between the two. */
async function labelMeanwhile(stage: SceneStage): Promise<void> {
  const { random, cluster, step } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length < 2) return;
  const [one, other] = two;
  const labelling = random.pick(team);
  const waiting = random.pick(team.filter((agent) => agent !== labelling));
  await registerAgain(stage, one, [labelling, waiting]);
  const runId = `labelled-${step}`;
  // Whoever does something for the first time changes more than what this is about.
  for (const agent of [labelling, waiting]) checkOf(stage, one, agent, { runId });
  await cluster.finishes(one);
  await cluster.calm();

  checkOf(stage, other, waiting, { tool: 'send', runId });
  await cluster.hears(other);
  checkOf(stage, one, labelling, { tool: 'search', runId });
  await cluster.finishes(one);
  await cluster.finishes(other);
}

/**
 * The last operation of a labelled run ends, and the run is forgotten long after; neither is durable yet. Meanwhile another
 * gateway has paused the operation, so that it does not end.
 */
async function forgetUnendedRun(stage: SceneStage): Promise<void> {
  const { random, world, cluster, step } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length === 0) return;
  const [one, other] = two;
  const agent = random.pick(team);
  await registerAgain(stage, one, [agent]);
  const ended = checkOf(stage, one, agent, { tool: 'search', runId: `unended-${step}` });
  await cluster.finishes(one);
  await cluster.calm();

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
 * A labelled run is forgotten, and that is not durable yet. Meanwhile another gateway clears its labels, and somebody acts in it
 * there, so that it is not forgotten after all.
 */
async function clearForgottenRun(stage: SceneStage): Promise<void> {
  const { random, cluster, step } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length < 2) return;
  const [one, other] = two;
  const labelling = random.pick(team);
  const acting = random.pick(team.filter((agent) => agent !== labelling));
  await registerAgain(stage, one, [labelling, acting]);
  const runId = `cleared-${step}`;
  const ended = checkOf(stage, one, labelling, { tool: 'search', runId });
  await cluster.finishes(one);
  stage.does('complete', one, () => complete(stage, one, ended, 0));
  await cluster.finishes(one);
  await cluster.calm();
  stage.passes(settings.runTtlMs + 1000);

  stage.does('save runs', one, () => one.gov.journal.ownTurn(() => one.gov.runKeeper.save(100)));
  await cluster.hears(one);
  const { orgId, teamId } = labelling.id;
  const clearing = async () => {
    const by = await loggedIn(other, random.pick(people));
    return other.execute({ kind: 'clear_labels', by, orgId, teamId, runId, labels: undefined, reason: '' });
  };
  stage.does('clear labels', other, clearing);
  await cluster.finishes(other);
  checkOf(stage, other, acting, { runId });
  await cluster.finishes(other);
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
  const actAtOther = async () => {
    const op = checkOf(stage, other, acting, { tool: 'search', runId });
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
  checkOf(stage, one, waiting, { tool: 'search', runId });
  await cluster.hears(one);
  await actAtOther();
  one.endTurn();
  await cluster.settled();
  // It learns that the other one was first, and commits once more.
  cluster.log.workFor(one.ground, 'done');
  await cluster.finishes(one, 'refused');
  passesUntil(quietAt + 500);
  checkOf(stage, one, waiting, { tool: 'send', runId });
  await cluster.finishes(one);
}

/** What happens to the runs of agents. */
export const runScenes: readonly Scene[] = [
  { name: 'begin together', weight: 3, play: beginTogether },
  { name: 'label meanwhile', weight: 1, play: labelMeanwhile },
  { name: 'forget a run that has not ended', weight: 1, play: forgetUnendedRun },
  { name: 'clear a run that is being forgotten', weight: 1, play: clearForgottenRun },
  { name: 'act in a run after a refusal', weight: 1, play: actInRunAfterRefusal },
];
