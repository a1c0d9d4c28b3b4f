import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { holdAgainst } from './hold-against.ts';
import type { World } from './operator.ts';
import { Operator, until } from './operator.ts';
import type { Played, Subject } from './scene.ts';
import { Stage } from './scene.ts';
import type { Case, Table } from './table.ts';

/** How a subject did in a case. Undefined: as the table says. */
export type Failure = string | undefined;
export type Failures = ReadonlyMap<Subject, ReadonlyMap<string, Failure>>;

const language = 'typescript';

/** What a subject is in the table, and the cases that it can do. */
export function casesFor(table: Table, name: string): readonly Case[] {
  const spec = table.adapters.find((each) => each.name === name && each.language === language);
  if (spec === undefined) throw new Error(`the table has no adapter ${name}`);
  return table.cases.filter((each) => spec.cannot?.[each.name] === undefined);
}

/**
 * Runs the table on all subjects, with one gateway. First all cases that leave the gateway alone, as many at once as `atOnce`
 * says; then the restart, once for all subjects; then its absence.
 */
export async function runTable(table: Table, subjects: readonly Subject[], atOnce = 24): Promise<Failures> {
  const failures = new Map(subjects.map((subject) => [subject, new Map<string, Failure>()] as const));
  const world = await startWorld(table);
  try {
    for (const phase of [undefined, 'restarted', 'away'] as const) {
      const tries = subjects.flatMap((subject) =>
        casesFor(table, subject.name)
          .filter(({ gateway }) => gateway === phase)
          .map((given) => async () => {
            failures.get(subject)?.set(given.name, await tried(table, subject, given, world));
          }),
      );
      world.comers = tries.length;
      await inTurns(tries, phase === undefined ? atOnce : tries.length);
    }
  } finally {
    await world.gateway[Symbol.asyncDispose]();
  }
  return failures;
}

async function inTurns(tries: readonly (() => Promise<void>)[], atOnce: number): Promise<void> {
  const rest = [...tries];
  const worker = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await next();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function tried(table: Table, subject: Subject, given: Case, world: World): Promise<Failure> {
  try {
    await runCase(table, subject, given, world);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function runCase(table: Table, subject: Subject, given: Case, world: World): Promise<void> {
  const id = { orgId: 'adapters', teamId: language, agentId: `${subject.name}.${given.name}` };
  using reeve: Reeve = connect({ address: world.gateway.grpc, apiKey: bootstrapKey, deadlineMs: deadlineOf(given) });
  const agent: Agent = await reeve.register({ ...id, framework: subject.name });
  const stage = new Stage(subject, table, reeve);
  const operator = new Operator(world, id);
  let isRead = false;
  const take = async (steps: Case['before'] = []) => {
    for (const step of steps) await operator.take(step, stage, () => isRead);
  };
  await take(given.before);
  const playing = subject.play(stage.scene(agent, given)).then((played: Played) => {
    isRead = true;
    return played;
  });
  playing.catch(() => {});
  // A step that fails must not leave a tool waiting.
  const [played] = await Promise.all([playing, take(given.during).catch(giveUp(stage, table))]);
  await holdAgainst(given, { played, stage, operator, output: outputOf(world) });
}

function giveUp(stage: Stage, table: Table) {
  return (error: unknown): never => {
    for (const tool of Object.keys(table.tools)) stage.release(tool);
    throw error;
  };
}

/** Without a gateway there is nothing to wait for. */
function deadlineOf({ gateway }: Case): number {
  return gateway === 'away' ? 2000 : 20_000;
}

function outputOf({ gateway }: World): () => string {
  return () => Object.values(gateway.output()).join('\n');
}

interface SharedWorld extends World {
  /** How many cases will ask for the next change of the gateway. It happens once, when all have come this far. */
  comers: number;
}

async function startWorld(table: Table): Promise<SharedWorld> {
  const policies = { 'adapters.yaml': table.policy };
  // Operations that have ended are looked at later.
  const env = { SVC_OPS_TTL_SECS: '600' };
  let come = 0;
  let change: Promise<void> | undefined;
  const together = async (work: () => Promise<void>) => {
    come++;
    await until(() => come >= world.comers || change !== undefined, 'some subjects never come this far');
    change ??= work();
    await change;
    if (--come === 0) change = undefined;
  };
  const world: SharedWorld = {
    comers: 0,
    gateway: await TestGateway.start({ policies, env }),
    stop: () => together(async () => void (await world.gateway.kill('SIGKILL'))),
    restart: () =>
      together(async () => {
        const { grpc, http } = world.gateway;
        const args = ['--grpc', grpc, '--http', new URL(http).host];
        world.gateway = await world.gateway.restart('SIGKILL', { args, env });
      }),
  };
  return world;
}
