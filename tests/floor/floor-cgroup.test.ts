import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownHierarchies, wordsOf } from '../../packages/cli/src/run/cgroup/hierarchies.ts';
import { enableControllers } from '../../packages/cli/src/run/cgroup/enable-controllers.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { NetworkLink } from '../harness/network-link.ts';
import { FloorWorld, hasFloor, isRoot, person, processesWith } from './floor-world.ts';

const all = ownHierarchies();
const second = isRoot ? all.find(({ version, folder }) => version === 2 && canMakeIn(folder)) : undefined;
const first = (controller: string) =>
  isRoot
    ? all.find(
        ({ version, controllers, folder }) => version === 1 && controllers.includes(controller) && canMakeIn(folder),
      )
    : undefined;

function canMakeIn(folder: string): boolean {
  try {
    mkdirSync(join(folder, 'reeve-test-try'));
    rmdirSync(join(folder, 'reeve-test-try'));
    return true;
  } catch {
    return false;
  }
}

let world: FloorWorld;
let made: string[];
beforeEach(async () => {
  world = await FloorWorld.start();
  made = [];
});
afterEach(async () => {
  for (const folder of made.toReversed()) {
    await eventually(() => {
      if (!existsSync(folder)) return;
      for (const name of runsIn(folder)) rmdirSync(join(folder, name));
      rmdirSync(folder);
    });
  }
  await world[Symbol.asyncDispose]();
});

/** A group that root gives to the person, with all that is in it. */
function delegated(parent: string): string {
  const folder = join(parent, `reeve-test-${process.pid}`);
  mkdirSync(folder);
  made.push(folder);
  for (const name of ['', ...readdirSync(folder)]) chownSync(join(folder, name), person, person);
  return folder;
}

async function effective(action: 'pause' | 'resume' | 'terminate'): Promise<{ readonly processes: number }> {
  const id = await world.control(action);
  return eventually(async () => {
    const { body } = await world.gateway.api.get<{ processes: number }>(`/api/v1/control/${id}`, bootstrapKey);
    expect(body).toMatchObject({ status: 'effective', evidence: 'kernel' });
    return body;
  }, 400);
}

const beats = () => world.read('project/beats').length;
const runsIn = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('reeve-run-'));
const hop =
  'my $k = fork; if ($k) { sleep 1000 } while (1) { exit if fork; open F, ">>beats"; print F "beat\\n"; close F; }';

async function heldAndEnded(start: Parameters<FloorWorld['begin']>[1]): Promise<void> {
  await using cli = world.begin(['perl', '-e', hop, '--', 'mark-hop-5150'], start);
  // Root on a floor has no more rights than any other.
  chmodSync(world.write('project/beats', ''), 0o666);
  await eventually(() => expect(beats()).toBeGreaterThan(20), 400);
  expect((await effective('pause')).processes).toBeGreaterThan(0);
  const frozen = beats();
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(beats()).toBe(frozen);
  }
  await effective('resume');
  await eventually(() => expect(beats()).toBeGreaterThan(frozen));
  await effective('pause');
  await effective('terminate');
  await cli.ended();
  expect(cli.exit().code).toBe(143);
  expect(processesWith('mark-hop-5150')).toEqual([]);
}

describe.skipIf(!hasFloor || second === undefined)('in a control group of the second version, as a user', () => {
  test('what hops from process to process is frozen by the kernel, goes on, and ends; the group is gone then', async () => {
    const folder = delegated(second?.folder ?? '');
    await heldAndEnded({ groups: [folder], flags: ['--grace', '0'] });
    expect(runsIn(folder)).toEqual([]);
  });

  test('as root, too, whose processes have no limit', async () => {
    await heldAndEnded({ asRoot: true, flags: ['--grace', '0'] });
  });

  test('what a killed run has left, the next one takes away', async () => {
    const folder = delegated(second?.folder ?? '');
    await using cli = world.begin(['sh', '-c', 'echo ready; exec sleep 1415926'], { groups: [folder] });
    await cli.says(/ready/);
    expect(runsIn(folder)).toHaveLength(1);
    await effective('pause');
    cli.child.kill('SIGKILL');
    await eventually(() => expect(processesWith('sleep 1415926')).toEqual([]));
    expect(runsIn(folder)).toHaveLength(1);
    expect((await world.run(['true'], { groups: [folder] })).code).toBe(0);
    expect(runsIn(folder)).toEqual([]);
  });

  test('a limit that no control group gives is refused before anybody is asked', async () => {
    const folder = delegated(second?.folder ?? '');
    const { code, stdout, stderr } = await world.run(['echo', 'ran'], { groups: [folder], flags: ['--pids', '9'] });
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(/^error: --pids needs a control group with pids, and this user has none;.*\n$/);
    expect(runsIn(folder)).toEqual([]);
    expect(world.gateway.audit().filter(({ event_type: type }) => type.startsWith('Action'))).toEqual([]);
  });

  test.skipIf(!(second?.controllers.includes('hugetlb') ?? false))(
    'the only process of a group steps aside, so that those below it can be limited',
    () => {
      const root = second?.folder ?? '';
      const enabled = wordsOf(join(root, 'cgroup.subtree_control'));
      const isEnabled = enabled.includes('hugetlb');
      if (!isEnabled) writeFileSync(join(root, 'cgroup.subtree_control'), '+hugetlb');
      const folder = delegated(root);
      try {
        writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
        const disable = enableControllers(folder, 'hugetlb');
        expect(wordsOf(join(folder, 'cgroup.subtree_control'))).toEqual(['hugetlb']);
        expect(wordsOf(join(folder, 'cgroup.procs'))).toEqual([]);
        disable();
        expect(wordsOf(join(folder, 'cgroup.procs'))).toEqual([String(process.pid)]);
        expect(runsIn(folder)).toEqual([]);
      } finally {
        writeFileSync(join(root, 'cgroup.procs'), String(process.pid));
        rmdirSync(folder);
        if (!isEnabled) writeFileSync(join(root, 'cgroup.subtree_control'), '-hugetlb');
      }
    },
  );
});

test.skipIf(!hasFloor || !isRoot)('a limit without a control group is refused in one line', async () => {
  for (const flags of [
    ['--memory', '64000000'],
    ['--cpus', '0.5'],
    ['--profile', world.write('limits.yaml', 'pids: 7')],
  ]) {
    const { code, stdout, stderr } = await world.run(['echo', 'ran'], { flags });
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(/^error: --(memory|cpus|pids) needs a control group .*\n$/);
  }
});

test.skipIf(!hasFloor || !isRoot)(
  'a group is limited while nothing but reeve run itself is in its parent',
  async () => {
    const bwrap = world.write('elsewhere/bwrap', '#!/bin/sh\ntouch "$0.begun"; exit 1\n');
    chmodSync(bwrap, 0o755);
    const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
    const { stderr } = await world.run(['echo', 'ran'], { env, flags: ['--memory', '64000000'] });
    expect(stderr).toMatch(/needs a control group/);
    expect(existsSync(`${bwrap}.begun`)).toBe(false);
  },
);

describe.skipIf(!hasFloor || first('freezer') === undefined)('in a control group of the first version', () => {
  test.each(['SIGTERM', 'SIGQUIT'] as const)('%s leaves none while the gateway is asked', async (name) => {
    const group = delegated(first('freezer')?.folder ?? '');
    await using link = await NetworkLink.to({ http: `http://${world.gateway.grpc}` });
    link.silence();
    const env = { REEVE_GRPC_ADDR: `127.0.0.1:${link.port}` };
    await using cli = world.begin(['true'], { groups: [group], env });
    const inGroup = () => runsIn(group).flatMap((run) => wordsOf(join(group, run, 'cgroup.procs')));
    await eventually(() => expect(inGroup()).not.toEqual([]));
    cli.child.kill(name);
    await cli.ended();
    expect(cli.child.signalCode).toBe(name);
    expect(runsIn(group)).toEqual([]);
    expect(readdirSync(world.project)).toEqual([]);
  });

  test('what hops from process to process is stopped while all stands still', async () => {
    const folder = delegated(first('freezer')?.folder ?? '');
    await heldAndEnded({ groups: [folder], flags: ['--grace', '0'] });
    expect(runsIn(folder)).toEqual([]);
  });
});

describe.skipIf(!hasFloor || ['pids', 'cpu'].some((name) => first(name) === undefined))('limits', () => {
  test('of processes hold', async () => {
    const folder = delegated(first('pids')?.folder ?? '');
    const lines =
      'my $n = 0; for (1..50) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } $n++ } print $n';
    const { stdout, code } = await world.run(['perl', '-e', lines], { groups: [folder], flags: ['--pids', '8'] });
    expect({ stdout, code }).toEqual({ stdout: '7', code: 0 });
    expect(runsIn(folder)).toEqual([]);
  });

  test('of processors hold', async () => {
    const folder = delegated(first('cpu')?.folder ?? '');
    await using cli = world.begin(['sh', '-c', 'echo ready; while :; do :; done'], {
      groups: [folder],
      flags: ['--cpus', '0.05', '--grace', '0'],
    });
    await cli.says(/ready/);
    const [name = ''] = runsIn(folder);
    const quota = readFileSync(join(folder, name, 'cpu.cfs_quota_us'), 'utf8');
    expect(quota).toBe('5000\n');
    await eventually(() =>
      expect(readFileSync(join(folder, name, 'cpu.stat'), 'utf8')).toMatch(/^nr_throttled [1-9]/m),
    );
    await effective('terminate');
  });

  test.skipIf(first('memory') === undefined)('of memory hold', async () => {
    const folder = delegated(first('memory')?.folder ?? '');
    const { code } = await world.run(['perl', '-e', 'my $x = "x" x 200_000_000; print length $x'], {
      groups: [folder],
      flags: ['--memory', '64000000'],
    });
    expect(code).toBe(137);
    expect(runsIn(folder)).toEqual([]);
  });
});
