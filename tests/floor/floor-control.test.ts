import { readFileSync } from 'node:fs';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { FloorWorld, hasFloor, processesWith } from './floor-world.ts';

let world: FloorWorld;
beforeEach(async () => {
  world = await FloorWorld.start();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

type Receipt = RouteOutput<Routes['getControl']>;

async function receipt(id: string): Promise<Receipt> {
  return (await world.gateway.api.get<Receipt>(`/api/v1/control/${id}`, bootstrapKey)).body;
}

async function effective(id: string): Promise<Receipt> {
  return eventually(async () => {
    const answer = await receipt(id);
    expect(answer).toMatchObject({ status: 'effective' });
    return answer;
  }, 400);
}

const state = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /, '')[0];
const size = () => world.read('project/beats').length;

/** Programs that are hard to stop. Each beats into a file as long as it runs. */
const [createTimer, setTimer] = process.arch === 'x64' ? [222, 223] : [107, 110];
const continued = `$SIG{CONT} = sub {}; my ($sev, $id, $spec) = (pack('Q i i', 0, 18, 0) . "\\0" x 48, "\\0" x 8, pack('q4', 0, 10000000, 0, 10000000));
syscall(${createTimer}, 1, $sev, $id); syscall(${setTimer}, unpack('i', $id), 0, $spec, 0);
while (1) { open F, ">>beats"; print F "beat\\n"; close F; select undef, undef, undef, 0.005 }`;
const hop =
  'my $k = fork; if ($k) { sleep 1000 } while (1) { EACH exit if fork; open F, ">>beats"; print F "beat\\n"; close F; }';
const beat = 'while :; do echo beat >> beats; sleep 0.01; done';
const stubborn: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['ignores every signal', ['sh', '-c', `trap "" HUP INT TERM USR1 USR2 TSTP CONT; ${beat}`]],
  ['is a daemon, two forks away in a session of its own', ['sh', '-c', `(setsid sh -c '(${beat}) &' &); sleep 1000`]],
  [
    'forks all the time',
    [
      'perl',
      '-e',
      'while (1) { if (my $p = fork) { select undef, undef, undef, 0.002; waitpid $p, 0 } else { system "echo beat >> beats"; exit } }',
    ],
  ],
  [
    'is a bomb of forks',
    [
      'sh',
      '-c',
      `ulimit -u 600; exec perl -e 'while (1) { my $p = fork; if (!defined $p) { select undef, undef, undef, 0.01 } open F, ">>beats"; print F "beat\\n"; close F }'`,
    ],
  ],
  ['hops from process to process', ['perl', '-e', hop.replace('EACH', '')]],
  ['hops, each time into a session of its own', ['perl', '-MPOSIX', '-e', hop.replace('EACH', 'POSIX::setsid();')]],
  ['has the kernel continue it by a timer', ['perl', '-e', continued]],
];

describe.skipIf(!hasFloor)('controls of a floor', () => {
  test.each(stubborn)('a program that %s is frozen, goes on, and ends', async (_, command) => {
    await using cli = world.begin(command, { flags: ['--grace', '0'] });
    world.write('project/beats', '');
    await eventually(() => expect(size()).toBeGreaterThan(20), 400);
    const paused = await effective(await world.control('pause'));
    expect(paused).toMatchObject({ evidence: 'kernel', processes: expect.any(Number) as number });
    const frozen = size();
    for (let round = 0; round < 40; round++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(size()).toBe(frozen);
    }
    expect(await effective(await world.control('resume'))).toMatchObject({ evidence: 'kernel' });
    await eventually(() => expect(size()).toBeGreaterThan(frozen));
    expect(await effective(await world.control('terminate', 'enough'))).toMatchObject({ evidence: 'kernel' });
    const last = size();
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 143, stderr: expect.stringContaining('enough') });
    expect(size()).toBe(last);
  });

  test('TERMINATE asks first, and kills after the grace', async () => {
    await using polite = world.begin([
      'sh',
      '-c',
      'trap "echo bye > said; exit 0" TERM; echo ready; while :; do sleep 0.02; done',
    ]);
    await polite.says(/ready/);
    await effective(await world.control('terminate'));
    await polite.ended();
    expect(polite.exit().code).toBe(143);
    expect(world.read('project/said')).toBe('bye\n');
  });

  test('what is frozen gets no time to run when it is terminated', async () => {
    await using cli = world.begin([
      'sh',
      '-c',
      'trap "echo bye > said; exit 0" TERM; echo ready; while :; do sleep 0.02; done',
    ]);
    await cli.says(/ready/);
    await effective(await world.control('pause'));
    await effective(await world.control('terminate'));
    await cli.ended();
    expect(cli.exit().code).toBe(143);
    expect(() => world.read('project/said')).toThrow('ENOENT');
  });

  test('somebody who continues a frozen process does not get far', async () => {
    await using cli = world.begin(['sh', '-c', 'echo ready; sleep 4321987 & wait']);
    await cli.says(/ready/);
    await effective(await world.control('pause'));
    const sleeping = processesWith('sleep 4321987').filter((pid) => state(pid) === 'T');
    expect(sleeping.length).toBeGreaterThan(0);
    for (const pid of sleeping) process.kill(pid, 'SIGCONT');
    await eventually(() => expect(sleeping.map(state)).toEqual(sleeping.map(() => 'T')));
    await effective(await world.control('terminate'));
  });

  test('suspending the agent freezes it, resuming lets it go on', async () => {
    await using cli = world.begin(['sh', '-c', beat]);
    world.write('project/beats', '');
    await eventually(() => expect(size()).toBeGreaterThan(20), 400);
    const agent = '/api/v1/agents/acme/core/ada';
    const { status, text } = await world.gateway.api.post(`${agent}/suspend`, bootstrapKey, { reason: 'look' });
    expect(status, text).toBe(200);
    await cli.says(/paused \(\d+ processes\)/, 'stderr');
    const frozen = size();
    await world.gateway.api.post(`${agent}/resume`, bootstrapKey, { reason: '' });
    await eventually(() => expect(size()).toBeGreaterThan(frozen));
    await effective(await world.control('terminate'));
  });

  test('a storm of a thousand processes is ended at once', async () => {
    const storm =
      'my @k; for (1..1000) { my $p = fork; if (!$p) { setpgrp; $SIG{TERM} = "IGNORE"; sleep 1000 while 1 } } print "ready\\n"; $SIG{TERM} = "IGNORE"; sleep 1000 while 1';
    await using cli = world.begin(['perl', '-e', `$| = 1; ${storm}`, '--', 'mark-storm-8642'], {
      flags: ['--grace', '0'],
    });
    await cli.says(/ready/);
    expect(processesWith('mark-storm-8642').length).toBeGreaterThan(1000);
    const storming = { evidence: 'kernel', processes: expect.toSatisfy((count: number) => count > 1000) as number };
    expect(await effective(await world.control('pause'))).toMatchObject(storming);
    expect(await effective(await world.control('terminate'))).toMatchObject(storming);
    expect((await world.op()).floor).toBe(true);
    expect(processesWith('mark-storm-8642').filter((pid) => pid !== cli.child.pid)).toEqual([]);
    await cli.ended();
  });
});
