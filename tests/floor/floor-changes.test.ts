import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { NetworkLink } from '../harness/network-link.ts';
import type { Start } from './floor-world.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Whether a jail has something mounted there. */
function isMounted(point: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(` ${point} `);
    } catch {
      return false;
    }
  });
}

/** Does something outside once a jail stands on a name, and before the gateway has answered. */
async function meanwhile(
  name: string,
  deed: string,
  lines: string,
  { env = {}, ...start }: Start = {},
): Promise<string> {
  await using link = await NetworkLink.to({ http: `http://${world.gateway.grpc}` });
  link.silence();
  const asked = { ...start, env: { ...env, REEVE_GRPC_ADDR: `127.0.0.1:${link.port}` } };
  await using cli = world.begin(['sh', '-c', lines], asked);
  await eventually(() => expect(isMounted(name)).toBe(true));
  expect(await world.shell(deed)).toMatchObject({ code: 0 });
  link.mend();
  await cli.ended();
  expect(cli.exit().stderr).not.toMatch(/error/);
  return cli.stdout;
}

describe.skipIf(!hasFloor)('what is replaced outside while the gateway is asked', () => {
  test('is held as well', async () => {
    const cwd = join(world.home, 'one');
    await world.shell(`git init -q ${cwd}`);
    const lines = 'echo evil >> .git/config && echo could; echo done';
    const said = await meanwhile(join(cwd, '.git/config'), `git -C ${cwd} config a.b c`, lines, { cwd });
    expect(said).toBe('done\n');
    expect(world.read('one/.git/config')).not.toContain('evil');
  });

  test('is not taken for the folder that was asked for', async () => {
    const cwd = join(world.home, 'two');
    await world.shell(`mkdir ${cwd}; echo old > ${cwd}/age`);
    const deed = `mv ${cwd} ${cwd}.old; mkdir ${cwd}; echo new > ${cwd}/age`;
    expect(await meanwhile(join(cwd, '.claude'), deed, 'cat age', { cwd })).toBe('new\n');
  });

  test('leads no mount elsewhere', async () => {
    const cwd = join(world.home, 'three');
    await world.shell(`cd ${world.home}; mkdir -p three/sub/.claude three/other/.claude`);
    const swap = 'test -e "$0.done" || { touch "$0.done"; mv sub real; ln -s other sub; }';
    const bwrap = world.write('elsewhere/bwrap', `#!/bin/sh\n${swap}\nPATH=\${PATH#*:} exec bwrap "$@"\n`);
    chmodSync(bwrap, 0o755);
    const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
    const deed = `cd ${cwd}; rm sub; mv real sub`;
    const lines = 'touch sub/.claude/evil && echo could; echo done';
    expect(await meanwhile(join(cwd, 'other/.claude'), deed, lines, { cwd, env })).toBe('done\n');
  });
});

test.skipIf(!hasFloor)(
  'a socket of the host that goes away while the jail is made keeps nothing from starting',
  async () => {
    const outside = mkdtempSync('/var/tmp/reeve-floor-');
    chmodSync(outside, 0o777);
    const socket = join(outside, 'host.sock');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const bwrap = world.write('gone/bwrap', `#!/bin/sh\nrm -f ${socket}\nPATH=\${PATH#*:} exec bwrap "$@"\n`);
    chmodSync(bwrap, 0o755);
    const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
    const { code, stderr } = await world.run(['true'], { env });
    server.close();
    rmSync(outside, { recursive: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  },
);

describe.skipIf(!hasFloor)('what is replaced outside once the gateway has allowed the program', () => {
  test('is held, because it is looked at last', async () => {
    const cwd = join(world.home, 'last');
    await world.shell(`git init -q ${cwd}`);
    const before = world.gateway.audit().length;
    await using link = await NetworkLink.to({ http: `http://${world.gateway.grpc}` });
    link.delay(700);
    const lines = 'echo evil >> .git/config && echo could; echo done';
    const env = { REEVE_GRPC_ADDR: `127.0.0.1:${link.port}` };
    await using cli = world.begin(['sh', '-c', lines], { cwd, env });
    // The last answer before the program begins is still under way.
    await eventually(() => {
      const types = world.gateway.audit().slice(before);
      expect(types.map(({ event_type: type }) => type)).toContain('AgentDelegated');
    }, 600);
    await world.shell(`git -C ${cwd} config a.b c`);
    expect(cli.stdout).toBe('');
    link.delay(0);
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(world.read('last/.git/config')).not.toContain('evil');
  });
});

describe.skipIf(!hasFloor)('where nothing changes', () => {
  test.each<[string, readonly string[]]>([
    ['nothing more', []],
    ['a hidden folder with settings', ['--hide', 'sub']],
    ['hidden settings', ['--hide', 'sub/.claude/settings', '--hide', '.git/hooks']],
    ['folders that are shown', ['--read', 'sub', '--read', '../shown', '--write', '../written']],
    ['no right to make names', ['--write', '../closed']],
  ])('one jail is made: %s', async (_, flags) => {
    const cwd = join(world.home, 'still');
    const made = join(world.home, 'made');
    await world.shell(
      `rm -f ${made}; mkdir -p ~/shown ~/written ~/closed/.claude ${cwd}/sub/.claude; git init -q ${cwd}; chmod 555 ~/closed
       echo x > ${cwd}/sub/.claude/settings; ln -sf AGENTS.md ${cwd}/CLAUDE.md`,
    );
    const bwrap = world.write('counting/bwrap', `#!/bin/sh\necho x >> ${made}\nPATH=\${PATH#*:} exec bwrap "$@"\n`);
    chmodSync(bwrap, 0o755);
    const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
    expect(await world.run(['true'], { cwd, env, flags })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(made, 'utf8')).toBe('x\n');
  });

  test('one jail is made in a folder that only others may change', async () => {
    const cwd = join(world.home, 'closed-here');
    const made = join(world.home, 'made');
    await world.shell(`rm -f ${made}; mkdir ${cwd}; chmod 555 ${cwd}`);
    const env = { PATH: `${join(world.home, 'counting')}:${process.env['PATH'] ?? ''}` };
    expect(await world.run(['true'], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(made, 'utf8')).toBe('x\n');
  });
});
