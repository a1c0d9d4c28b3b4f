import { control } from './control-deeds.ts';
import { loggedIn } from './deed.ts';
import { people } from './people.ts';
import { askAboutResult } from './result-deeds.ts';
import { checkOf, loginMs, registerAgain } from './scene-deeds.ts';
import type { Scene, SceneStage } from './scene.ts';
import { drawTeam, drawTwo } from './scene.ts';

/** An agent has a result before its check is durable, and asks at once. */
async function askAtOnce(stage: SceneStage): Promise<void> {
  const { random, cluster } = stage;
  await cluster.calm();
  const [one] = drawTwo(stage) ?? [];
  const team = drawTeam(stage);
  if (one === undefined || team.length === 0) return;
  const agent = random.pick(team);
  await registerAgain(stage, one, [agent]);
  const op = checkOf(stage, one, agent);
  await cluster.hears(one);
  stage.does('ask about a result', one, () => askAboutResult(stage, one, op));
  await cluster.hears(one);
  await cluster.finishes(one);
}

/** A result is judged aside. Meanwhile another gateway gives its run a label that the judgement looks at. */
async function labelBesideJudgement(stage: SceneStage): Promise<void> {
  const { random, cluster, step } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length < 2) return;
  const [one, other] = two;
  const finding = random.pick(team);
  const reading = random.pick(team.filter((agent) => agent !== finding));
  await registerAgain(stage, one, [finding, reading]);
  const runId = `judged-${step}`;
  const found = checkOf(stage, one, finding, { tool: 'search', runId });
  const read = checkOf(stage, one, reading, { tool: 'read', runId });
  await cluster.finishes(one);
  await cluster.calm();

  stage.does('ask about a result', one, () => askAboutResult(stage, one, found, '["ssn","dear"]'));
  await cluster.settled();
  // It reads the call, finds that the judgement is dear, and reads whether it knows the newest commits. Then it is begun.
  for (let nth = 0; nth < 3; nth++) {
    cluster.log.workFor(one.ground, 'done', 'reads');
    await cluster.settled();
    one.endTurn();
    await cluster.settled();
  }
  stage.does('ask about a result', other, () => askAboutResult(stage, other, read, '{"found":0}'));
  await cluster.finishes(other);
  while (cluster.log.underWay > 0) cluster.log.deliver(0, false);
  one.gov.journal.followReady();
  await cluster.finishes(one);
}

/**
 * Somebody stops an operation, and its agent asks about its result before that is durable. It is not stopped after all: another
 * gateway was first with something, and whoever stopped it is logged in no longer.
 */
async function askAboutUnstopped(stage: SceneStage): Promise<void> {
  const { random, cluster } = stage;
  await cluster.calm();
  const two = drawTwo(stage);
  const team = drawTeam(stage);
  if (two === undefined || team.length === 0) return;
  const [one, other] = two;
  const agent = random.pick(team);
  await registerAgain(stage, one, [agent]);
  const op = checkOf(stage, one, agent);
  await cluster.finishes(one);
  await cluster.calm();

  const stopping = async () => control(one, await loggedIn(one, random.pick(people), loginMs), op, 'terminate');
  stage.does('control an operation', one, stopping);
  await cluster.hears(one);
  stage.does('ask about a result', one, () => askAboutResult(stage, one, op));
  await cluster.hears(one);
  one.endTurn();
  checkOf(stage, other, agent);
  await cluster.finishes(other);
  stage.passes(loginMs);
  await cluster.finishes(one);
}

/** What happens while results are judged. */
export const resultScenes: readonly Scene[] = [
  { name: 'ask at once about a result', weight: 0.5, play: askAtOnce },
  { name: 'label a run beside a judgement', weight: 1, play: labelBesideJudgement },
  { name: 'ask about what was not stopped after all', weight: 1, play: askAboutUnstopped },
];
