import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunningCli } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { hasFloor, isRoot, person, processesWith } from './floor-world.ts';
import { NetworkWorld } from './network-world.ts';

let world: NetworkWorld;
beforeEach(async () => {
  world = await NetworkWorld.start();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Lets it open no more than so many. Only its own user may say so. */
function limit({ child }: RunningCli, count: number): void {
  const account = isRoot ? { uid: person, gid: person } : {};
  execFileSync('prlimit', ['--pid', String(child.pid), `--nofile=${count}:`], account);
}

const openBy = ({ child }: RunningCli) => readdirSync(`/proc/${child.pid}/fd`).length;

/** What the kernel says of the shells with the mark. */
const statesOf = (mark: string) =>
  processesWith(mark).flatMap((pid) => /\(sh\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? []);

/** Sends bytes and leaves, some clients at a time, and says so. Then it waits. */
const leaving = (count: number, bytes: string, held: number) => `
const { once } = require('node:events');
const one = async () => {
  const socket = net.connect({ host, port }).on('error', () => {}).on('data', () => {});
  socket.write(${JSON.stringify(bytes)});
  socket.end();
  await once(socket, 'close').catch(() => {});
};
const hold = () => new Promise((resolve) => net.connect({ host, port }, resolve).on('error', () => {}));
(async () => {
  await Promise.all(Array.from({ length: ${held} }, hold));
  console.log('begun');
  for (let left = ${count}; left > 0; left -= 50) await Promise.all(Array.from({ length: 50 }, one));
  console.log('left');
  setInterval(() => {}, 1000);
})();`;

describe.skipIf(!hasFloor)('the descriptors of reeve run', () => {
  test('clients above the limit take none of them', async () => {
    await using cli = world.begin(world.nodeWords(leaving(300, 'x', 512)));
    await cli.says(/begun/);
    // The kernel lets clients connect before anybody takes them.
    await eventually(() => expect(openBy(cli)).toBeGreaterThan(512));
    await cli.says(/left/);
    await eventually(() => expect(openBy(cli)).toBeLessThan(600));
    cli.child.kill('SIGTERM');
    await cli.ended();
  });

  test.each([
    ['a tunnel that is denied', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\nearly'],
    ['a tunnel to nowhere', 'CONNECT nowhere HTTP/1.1\r\nHost: nowhere\r\n\r\nearly'],
    ['a request that cannot be read', 'GET nothing\r\n\r\nearly'],
    [
      'a request that is denied',
      'POST http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 9\r\n\r\nearly',
    ],
    ['SOCKS without a way in', '\u0005\u0001\u0002early'],
    ['SOCKS that listens', '\u0005\u0001\u0000\u0005\u0002\u0000\u0001\u0001\u0001\u0001\u0001\u0000\u0050early'],
    ['SOCKS that is denied', '\u0005\u0001\u0000\u0005\u0001\u0000\u0003\u0009evil.test\u0000\u0050early'],
  ])('%s, with bytes that nobody reads, leaves none behind', async (_what, bytes) => {
    await using cli = world.begin(world.nodeWords(leaving(50, bytes, 0)));
    await cli.says(/begun/);
    await cli.says(/left/);
    await eventually(() => expect(openBy(cli)).toBeLessThan(60));
    cli.child.kill('SIGTERM');
    await cli.ended();
  });

  test('it starts with as many as it needs, and refuses with fewer', async () => {
    const limited = (count: number) =>
      world.shell(`ulimit -Sn 256; ulimit -Hn ${count}; exec ${world.typed(['echo', 'begun'])}`);
    expect(await limited(1024)).toMatchObject({ code: 0, stdout: 'begun\n' });
    expect(await limited(1023)).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/needs 1024 open files.*ulimit -n/) as string,
    });
  });

  test.each(['0', '1'])('TERMINATE needs none, with a grace of %s seconds', async (grace) => {
    const mark = `mark-${process.pid}-${grace}`;
    const line = `echo begun; while :; do sleep 0.1; done # ${mark}`;
    await using cli = world.begin(['sh', '-c', line], { flags: ['--grace', grace] });
    await cli.says(/begun/);
    limit(cli, 1);
    await world.effective(await world.controlOp((await world.programOp()).op_id, 'terminate'));
    await cli.ended();
    expect(cli.exit().code).toBe(143);
    expect(processesWith(mark)).toEqual([]);
  });

  test('PAUSE that cannot be had is not claimed, and is carried out once it can', async () => {
    const mark = `mark-${process.pid}-pause`;
    const line = `echo begun; while :; do sleep 0.01; done # ${mark}`;
    await using cli = world.begin(['sh', '-c', line]);
    await cli.says(/begun/);
    limit(cli, 1);
    const id = await world.controlOp((await world.programOp()).op_id, 'pause');
    await eventually(async () => expect(await world.status(id)).toBe('failed'));
    limit(cli, 1024);
    // A shell that waits until the kernel has executed what it forked is in D, and what it forked still has its name.
    await eventually(() => expect(statesOf(mark).filter((state) => state !== 'D')).toEqual(['T']));
    cli.child.kill('SIGKILL');
  });
});
