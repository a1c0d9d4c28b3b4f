import { expect } from 'vitest';
import { ReeveError } from '../../kernel/errors.ts';
import { ticks } from '../two-gateways.ts';
import { firsts, turns } from './deeds.ts';
import type { World } from './world.ts';
import { begin, watchOf } from './world.ts';

// A turn that another gateway overtakes must end as if it had come after what overtook it. Whatever a rule reads, the order
// of the log must explain its answer. A read that goes unnoted shows here as an answer that no order explains.

/** What can be told of a promise: the answer or the refusal. Whatever was drawn at random is left out. */
async function told(work: Promise<unknown>): Promise<string> {
  try {
    return plain(await work);
  } catch (error) {
    return error instanceof ReeveError ? plain([error.code, error.message]) : String(error);
  }
}

function plain(value: unknown): string {
  const text = JSON.stringify(value, (key, member: unknown) => (drawn.has(key) ? undefined : member)) ?? '';
  return text.replaceAll(/\b(?:apr|sus|ctl|rcp|rva|grant|gr|ctrl)_[\w-]+|[0-9a-f]{16,}/g, 'ID');
}

/** Where something stands in the log, and in what order it became known, depends on what came before it. */
const drawn: ReadonlySet<string> = new Set([
  'hash',
  'ordinal',
  'policy_version',
  'prev_hash',
  'savedSeq',
  'seq',
  'startedAt',
]);

/** Everything that both gateways and the log say in the end. */
async function ending({ one, two, follow }: World, answers: readonly Promise<unknown>[], from: number) {
  const heard = await Promise.all(answers.map(told));
  await follow();
  const entries = (await one.audit())
    .slice(from)
    .map(({ event_type, decision, reason, policy_rule, op_id, actor, lineage, payload }) =>
      plain([event_type, decision, reason, policy_rule, op_id, actor, lineage, payload]),
    )
    .toSorted();
  const memories = [one, two].map(({ gov }) =>
    plain({
      agents: [...gov.directory.all()].map(({ key, record }) => `${key} ${record.suspension?.reason}`).toSorted(),
      ops: [...gov.directory.all()]
        .flatMap((agent) =>
          [...gov.ops.of(agent)].map(({ opId, state, reservedMicros, reason, resultDuty, rewrite }) =>
            plain([agent.key, opId, state, reservedMicros, reason, resultDuty, rewrite?.changes]),
          ),
        )
        .toSorted(),
      balances: gov.ledger
        .all()
        .filter(({ spent, reserved }) => spent.month !== 0 || reserved !== 0)
        .map(({ of, spent, reserved }) => plain([of, spent, reserved]))
        .toSorted(),
      labels: [...gov.runs.all()]
        .map(({ name, place }) => plain([name, gov.runs.labels.of({ of: 'run', place })]))
        .concat(
          [...gov.directory.all()].map(({ key, record: { id } }) =>
            plain([key, gov.runs.labels.of({ of: 'agent', place: { ...id, runId: '' } })]),
          ),
        )
        .toSorted(),
      delegations: [...gov.directory.delegations.all]
        .map((each) => plain([each.id, each.checks, each.settledMicros, each.endedAt]))
        .toSorted(),
    }),
  );
  expect(memories[1]).toBe(memories[0]);
  return { heard, entries, memory: memories[0] };
}

/** One thing after the other: the first elsewhere, the others here. */
export async function inOrder(first: string, rest: readonly string[]) {
  const world = await begin();
  const from = (await world.one.audit()).length;
  const answers: Promise<unknown>[] = [];
  for (const [at, name] of [first, ...rest].entries()) {
    const answer = firsts[name]?.(at === 0 ? world.two : world.one, world) ?? Promise.reject(new Error(name));
    answers.push(answer);
    await world.settled(answer).catch(() => undefined);
    await world.follow();
  }
  return ending(world, answers, from);
}

/**
 * The same, but what is done here is done before this gateway hears of the first. `fails`: then the store is gone, so all of
 * it is taken back.
 */
export async function overtaken(first: string, rest: readonly string[], fails = false) {
  const world = await begin();
  const { one, two, log, settled } = world;
  const from = (await one.audit()).length;
  const answers = rest.map((name) => turns[name]?.(one, world) ?? Promise.reject(new Error(name)));
  for (const answer of answers) answer.catch(() => undefined);
  await ticks();
  one.turn();
  const waiting = log.waiting;
  const foreign = firsts[first]?.(two, world) ?? Promise.reject(new Error(first));
  const watch = watchOf(foreign);
  for (let round = 0; !watch.isOver && round < 50; round++) {
    await ticks();
    two.turn();
    while (log.waiting > waiting) {
      log.work(waiting);
      await ticks();
    }
  }
  if (fails) {
    log.work();
    await ticks();
    log.outage = new Error('the store is gone');
  }
  await settled(Promise.allSettled([foreign, ...answers]));
  log.outage = undefined;
  return ending(world, [foreign, ...answers], from);
}

/** Whatever was done here before this gateway heard of the first ends as if it came later. */
export async function expectInOrder(first: string, name: string): Promise<void> {
  expect(await overtaken(first, [name]), `${name}, overtaken by ${first}`).toEqual(await inOrder(first, [name]));
}
