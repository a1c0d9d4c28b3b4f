import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningCli } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { FloorWorld, hasFloor, letOthersRun, processesWith } from './floor-world.ts';

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const keys = { interrupt: '\u0003', suspend: '\u001a' } as const;

/** Types a line for the person's shell, and waits until the shell has done it. */
async function done(cli: RunningCli, line: string): Promise<string> {
  const before = cli.stdout.length;
  cli.type(`${line}; echo "did"" it"\r`);
  await eventually(() => expect(cli.stdout.slice(before)).toMatch(/^did it\r?$/m));
  return cli.stdout.slice(before);
}

async function leave(cli: RunningCli): Promise<void> {
  cli.type('exit\r');
  await cli.ended();
}

/** Whether lines are edited by the terminal, which programs like editors switch off. */
const mode = `stty -a | grep -o -- '-*icanon'`;

describe.skipIf(!hasFloor)('a floor on a terminal is as none', () => {
  test('the key that interrupts ends the list of commands of the shell, too', async () => {
    await using cli = world.beginShell();
    const command = world.typed(['sh', '-c', 'echo begun; sleep 4321']);
    cli.type(`for each in 1 2 3; do ${command}; done; echo "went"" on"\r`);
    await cli.says(/^begun/m);
    await eventually(() => expect(processesWith('sleep 4321').length).toBeGreaterThan(0));
    cli.type(keys.interrupt);
    const later = await done(cli, 'echo "code is $?"');
    expect(later).toMatch(/^code is 130\r?$/m);
    expect(cli.stdout).not.toMatch(/^went on/m);
    expect(cli.stdout.match(/^begun/gm)).toHaveLength(1);
    await leave(cli);
  });

  test('a program that catches that key goes on, and ends with its own code', async () => {
    await using cli = world.beginShell();
    const lines = 'trap "echo caught; exit 3" INT; echo begun; while :; do sleep 0.05; done';
    cli.type(`${world.typed(['sh', '-c', lines])}; echo "code is $?"\r`);
    await cli.says(/^begun/m);
    cli.type(keys.interrupt);
    await cli.says(/^code is 3/m);
    expect(cli.stdout).toMatch(/caught/);
    await leave(cli);
  });

  test.each([
    ['itself', 'kill "TSTP", $$'],
    ['its group, as editors do', 'kill "TSTP", 0'],
  ])('a program that stops %s is a stopped job, which goes on', async (_, stop) => {
    await using cli = world.beginShell();
    cli.type(`${world.typed(['perl', '-e', `$| = 1; print "begun\\n"; ${stop}; print "back\\n"; <STDIN>`])}\r`);
    await cli.says(/Stopped/);
    expect(cli.stdout).not.toMatch(/^back/m);
    cli.type('fg\r');
    await cli.says(/^back/m);
    cli.type('line\r');
    await done(cli, 'true');
    await leave(cli);
  });

  test('a job that was stopped does not go on before the gateway has been heard', async () => {
    await using cli = world.beginShell();
    const counting = '$| = 1; print "begun\\n"; while (1) { open F, ">>", "counted"; print F "x"; close F }';
    const counted = () => world.read('project/counted').length;
    cli.type(`${world.typed(['perl', '-e', counting])}\r`);
    await cli.says(/^begun/m);
    await eventually(() => expect(counted()).toBeGreaterThan(0));
    cli.type(keys.suspend);
    await cli.says(/Stopped/);
    const stopped = counted();
    world.gateway.child.kill('SIGSTOP');
    try {
      const before = cli.stdout.length;
      cli.type('fg\r');
      await eventually(() => expect(cli.stdout.slice(before)).toMatch(/perl/));
      // The shell continues the program itself, which is then stopped again.
      await eventually(() => expect(counted()).toBeGreaterThan(stopped));
      await eventually(() => {
        const seen = counted();
        letOthersRun();
        expect(counted()).toBe(seen);
      });
      expect(cli.stdout).not.toMatch(/the gateway is lost/);
    } finally {
      world.gateway.child.kill('SIGCONT');
    }
    const held = counted();
    await eventually(() => expect(counted()).toBeGreaterThan(held));
    cli.type(keys.suspend);
    await eventually(() => expect(cli.stdout.match(/Stopped/g)).toHaveLength(2));
    const pause = await world.control('pause');
    cli.type('fg\r');
    await eventually(async () => {
      const { body } = await world.gateway.api.get<{ status: string }>(`/api/v1/control/${pause}`, bootstrapKey);
      expect(body.status).toBe('effective');
    });
    const paused = counted();
    letOthersRun();
    expect(counted()).toBe(paused);
    await world.control('terminate');
    await cli.says(/terminated/);
    await leave(cli);
  });

  test('a job of two that have stopped each other goes on as a whole', async () => {
    await using cli = world.beginShell();
    const inner = '$| = 1; print "begun\\n"; kill "TSTP", 0; print "back\\n"; <STDIN>';
    cli.type(`${world.typed(['perl', '-e', 'system @ARGV; print "over\\n"', 'perl', '-e', inner])}\r`);
    await cli.says(/Stopped/);
    cli.type('fg\r');
    await cli.says(/^back/m);
    cli.type('line\r');
    await cli.says(/^over/m);
    await leave(cli);
  });

  test('a job in the background that reads is stopped, and reads in the foreground', async () => {
    await using cli = world.beginShell();
    cli.type(`${world.typed(['sh', '-c', 'read line; echo "has $line"'])} &\r`);
    await eventually(async () => expect(await done(cli, 'jobs')).toMatch(/Stopped/));
    cli.type('fg\r');
    // The shell says which job it is once the terminal takes lines again.
    await cli.says(/fg\r?\n[^\n]*read line/);
    cli.type('words\r');
    await cli.says(/^has words/m);
    await leave(cli);
  });

  test('where no shell could continue it, the key that suspends does nothing', async () => {
    await using cli = world.beginOnTerminal(['sh', '-c', 'echo begun; read line; echo "has $line"']);
    await cli.says(/^begun/m);
    cli.type(keys.suspend);
    cli.type('words\r');
    await cli.says(/^has words/m);
    await cli.ended();
    expect(cli.child.exitCode).toBe(0);
  });

  test('it hears of a new size', async () => {
    await using cli = world.beginShell();
    const terminal = /^(\/dev\/\S+)\r?$/m.exec(await done(cli, 'tty'))?.[1] ?? '';
    const lines = 'trap "stty size" WINCH; echo begun; while :; do sleep 0.05; done';
    cli.type(`${world.typed(['bash', '-c', lines])}\r`);
    await cli.says(/^begun/m);
    expect(spawnSync('stty', ['-F', terminal, 'rows', '33', 'cols', '77']).status).toBe(0);
    await cli.says(/^33 77/m);
    cli.type(keys.interrupt);
    await leave(cli);
  });

  test('it is a terminal on all streams, and can be opened again', async () => {
    await using cli = world.beginShell();
    const lines =
      'test -t 0 && test -t 1 && test -t 2 && echo terminals; echo opened > /dev/tty; echo as error > /dev/stderr; echo as output >> /dev/stdout';
    const said = await done(cli, world.typed(['sh', '-c', lines]));
    expect(said).toMatch(/^terminals\r?\nopened\r?\nas error\r?\nas output\r?$/m);
    await leave(cli);
  });

  test('its modes stay as a program leaves them, and are put back after one that was killed', async () => {
    await using cli = world.beginShell();
    expect(await done(cli, `${world.typed(['stty', '-icanon'])}; ${mode}; stty icanon`)).toMatch(/^-icanon/m);
    const killed = world.typed(['sh', '-c', 'stty -icanon -echo; kill -KILL $$']);
    expect(await done(cli, `${killed}; ${mode}`)).toMatch(/^icanon/m);
    await leave(cli);
  });

  test('a job that ends in the background leaves the modes of others alone', async () => {
    await using cli = world.beginShell();
    const command = world.typed(['sh', '-c', 'until test -e go-on; do sleep 0.05; done']);
    cli.type(`${command} &\r`);
    await cli.says(/^\[1\]/m);
    // A mode that a shell does not change for its own sake.
    expect(await done(cli, `stty ixany; touch go-on; wait; stty -a | grep -o -- '-*ixany'`)).toMatch(/^ixany/m);
    await leave(cli);
  });

  test('TERMINATE ends what stops itself when it is asked to end', async () => {
    await using cli = world.beginShell();
    const lines = 'trap "kill -STOP $$" TERM; echo begun; while :; do sleep 0.05; done';
    cli.type(`${world.typed(['sh', '-c', lines], ['--grace', '1'])}; echo "code is $?"\r`);
    await cli.says(/^begun/m);
    await world.control('terminate');
    await cli.says(/^code is 143/m);
    await leave(cli);
  });

  test('TERMINATE ends what has stopped the output of the terminal', async () => {
    await using cli = world.beginShell();
    const lines = 'import termios, time; termios.tcflow(1, termios.TCOOFF); open("stopped", "w"); time.sleep(600)';
    cli.type(`${world.typed(['python3', '-c', lines], ['--grace', '0'])}\r`);
    await eventually(() => expect(world.read('project/stopped')).toBe(''));
    const control = await world.control('terminate');
    await eventually(async () => {
      const { body } = await world.gateway.api.get(`/api/v1/control/${control}`, bootstrapKey);
      expect(body).toMatchObject({ status: 'effective', evidence: 'kernel' });
    });
  });
});
