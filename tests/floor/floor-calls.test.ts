import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FloorWorld, hasFloor } from './floor-world.ts';

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const isX64 = process.arch === 'x64';
/** The numbers on x64 and on arm64. */
const number = (x64: number, arm64: number) => (isX64 ? x64 : arm64);
const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** Calls that an unprivileged process may make without a floor, so that it is the filter that refuses them. */
const calls: readonly (readonly [name: string, call: string, errno: number])[] = [
  ['ptrace', `${number(101, 117)}, 0, 0, 0, 0`, errors.EPERM],
  ['process_vm_readv', `${number(310, 270)}, $$, 0, 0, 0, 0, 0`, errors.EPERM],
  ['kcmp', `${number(312, 272)}, $$, $$, 0, 0, 0`, errors.EPERM],
  ['add_key', `${number(248, 217)}, my $a = "user", my $b = "name", my $c = "x", 1, -2`, errors.EPERM],
  ['request_key', `${number(249, 218)}, my $a = "user", my $b = "name", 0, -2`, errors.EPERM],
  ['keyctl', `${number(250, 219)}, 0, -3, 1`, errors.EPERM],
  ['io_uring_setup', `425, 1, my $u = "\\0" x 120`, errors.ENOSYS],
  ['clone3', '435, 0, 0', errors.ENOSYS],
  ['a call of a later kernel', '600', errors.ENOSYS],
  ['unshare a user namespace', `${number(272, 97)}, 0x10000000`, errors.EPERM],
  ['AF_VSOCK', `${number(41, 198)}, 40, 1, 0`, errors.EAFNOSUPPORT],
  ['AF_ALG', `${number(41, 198)}, 38, 5, 0`, errors.EAFNOSUPPORT],
  ['AF_BLUETOOTH', `${number(41, 198)}, 31, 3, 0`, errors.EAFNOSUPPORT],
  ['a raw socket', `${number(41, 198)}, 2, 3, 1`, errors.EPERM],
  ['TIOCSTI', `${number(16, 29)}, 0, 0x5412, my $x = "x"`, errors.EPERM],
  ['TIOCSTI with a high bit', `${number(16, 29)}, 0, 0x100005412, my $y = "x"`, errors.EPERM],
  ['stopping the group', `${number(62, 129)}, 0, 19`, errors.EPERM],
  ['a timer with a signal', `${number(222, 107)}, 0, my $z = "\\0" x 64, my $t = "\\0" x 8`, errors.ENOSYS],
];

describe.skipIf(!hasFloor)('system calls on a floor', () => {
  test('each that the filter refuses is refused by the kernel', async () => {
    const lines = calls.map(
      ([name, call]) => `$! = 0; my $r = syscall(${call}); print "${name}: ", $r == -1 ? $!+0 : "done", "\\n";`,
    );
    const { stdout, stderr } = await world.perl(lines.map((line) => `{ ${line} }`).join('\n'));
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toEqual(calls.map(([name, , errno]) => `${name}: ${errno}`));
  });

  test.runIf(isX64)('the calls of x32 are not there', async () => {
    const { stdout } = await world.perl('my $r = syscall(0x40000000 + 39); print $r == -1 ? $!+0 : "done";');
    expect(stdout).toBe(String(errors.ENOSYS));
  });

  test('nothing gets privileges', async () => {
    const { stdout } = await world.sh(
      'grep -E "^(NoNewPrivs|CapEff|CapBnd|Seccomp):" /proc/self/status; mount | grep -cE " / .*nosuid"',
    );
    expect(stdout).toMatch(/CapEff:\s+0{16}\nCapBnd:\s+0{16}\nNoNewPrivs:\s+1\nSeccomp:\s+2\n1\n/);
  });

  test('the first process of the namespace, which keeps it, cannot be reached', async () => {
    const { stdout } = await world.sh(
      'ls -A /proc/1; for name in mem task/1/mem environ fd root; do test -e /proc/1/$name && echo $name; done; (kill -KILL 1) 2>/dev/null; echo here',
    );
    expect(stdout).toBe('here\n');
  });

  test('ordinary work goes on: threads, pipes, sockets, timers, compilers of their own code', async () => {
    const script = `
      const { Worker } = require('node:worker_threads');
      const { execFileSync } = require('node:child_process');
      const net = require('node:net');
      const worker = new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true });
      worker.once('message', () => {
        const server = net.createServer((socket) => socket.end('local')).listen('./own.sock', () => {
          net.connect('./own.sock').on('data', (text) => {
            server.close();
            console.log(String(text), execFileSync('sh', ['-c', 'echo piped | cat'], { encoding: 'utf8' }).trim());
          });
        });
      });`;
    const { code, stdout, stderr } = await world.run([process.execPath, '-e', script], {
      flags: ['--read', dirname(process.execPath)],
    });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'local piped\n', stderr: '' });
  });
});
