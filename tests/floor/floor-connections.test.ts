import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { hasFloor, processesWith } from './floor-world.ts';
import { NetworkWorld } from './network-world.ts';

let world: NetworkWorld;
let port = 0;
let received = 0;
const sockets = new Set<Socket>();
/** Talks all the time, and counts what it hears. */
const talker = () =>
  createServer((socket) => {
    sockets.add(socket);
    const timer = setInterval(() => socket.write('beat\n'), 5);
    socket.on('data', (chunk) => (received += chunk.length));
    socket
      .on('error', () => {})
      .on('close', () => {
        clearInterval(timer);
        sockets.delete(socket);
      });
  });

beforeEach(async () => {
  received = 0;
  world = await NetworkWorld.start();
  port = await world.listen(talker());
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await world[Symbol.asyncDispose]();
});

/** Talks to the talker, and writes down what it hears. */
const talk = () => [
  process.execPath,
  '-e',
  `
  const net = require('node:net'), fs = require('node:fs');
  const [, host, proxy] = /^http:..(.*):([0-9]+)$/.exec(process.env.HTTP_PROXY);
  const socket = net.connect({ host, port: proxy }, () => socket.write('CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\n\\r\\n'));
  socket.on('data', (chunk) => fs.appendFileSync('heard', chunk));
  socket.once('data', () => setInterval(() => socket.write('hello\\n'), 5));
  socket.on('error', () => {}).on('close', () => { fs.appendFileSync('closed', 'closed'); });
  setInterval(() => fs.appendFileSync('beats', 'x'), 5);`,
];
const heard = () => world.read('project/heard').length;
const both = () => [heard(), received];

async function talking() {
  for (const name of ['heard', 'closed', 'beats']) world.write(`project/${name}`, '');
  const cli = world.begin(talk());
  await eventually(() => expect(Math.min(...both())).toBeGreaterThan(200), 400);
  return cli;
}

/** Nothing more arrives at either end, though both go on. */
async function expectStill(): Promise<void> {
  const before = await eventually(async () => {
    const now = both();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(both()).toEqual(now);
    return now;
  });
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(both()).toEqual(before);
  }
}

describe.skipIf(!hasFloor)('connections of a floor', () => {
  test('PAUSE stops the bytes both ways, RESUME lets them go on, TERMINATE cuts; the program runs on', async () => {
    await using cli = await talking();
    const { op_id: id } = await world.connection('running');
    await world.effective(await world.controlOp(id, 'pause'));
    await expectStill();
    const [before = 0, sent = 0] = both();
    const beats = world.read('project/beats').length;
    await eventually(() => expect(world.read('project/beats').length).toBeGreaterThan(beats));
    await world.effective(await world.controlOp(id, 'resume'));
    await eventually(() => expect(heard()).toBeGreaterThan(before + 100));
    await eventually(() => expect(received).toBeGreaterThan(sent + 100));
    // Nothing that was held is lost.
    expect(world.read('project/heard').replace(/^HTTP.*?\r\n\r\n/s, '')).toMatch(/^(beat\n)*(b|be|bea|beat)?$/);
    await world.effective(await world.controlOp(id, 'terminate'));
    await eventually(() => expect(world.read('project/closed')).toBe('closed'));
    await eventually(() => expect(sockets.size).toBe(0));
    expect(cli.child.exitCode).toBeNull();
    cli.child.kill('SIGTERM');
    await cli.ended();
  });

  test('while the program is paused, nothing passes either', async () => {
    await using cli = await talking();
    await world.effective(await world.controlOp((await world.programOp()).op_id, 'pause'));
    await expectStill();
    const [before = 0] = both();
    await world.effective(await world.controlOp((await world.programOp()).op_id, 'resume'));
    await eventually(() => expect(heard()).toBeGreaterThan(before));
    await world.effective(await world.controlOp((await world.programOp()).op_id, 'terminate'));
    await cli.ended();
    expect(cli.exit().code).toBe(143);
    expect((await world.running()).length).toBe(0);
  });

  test('nothing is resolved or connected to while the program is paused, although people allow it then', async () => {
    let clients = 0;
    const server = createServer((socket) => {
      clients++;
      socket.on('error', () => {}).end('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const asked = await world.listen(server, '127.0.0.3');
    await using cli = world.begin(['sh', '-c', `curl -sS -i -m 60 http://127.0.0.3:${asked}/`]);
    const { op_id: id } = await world.connection('pending');
    const { body } = await world.gateway.api.get<{ items: { id: string }[] }>('/api/v1/approvals', bootstrapKey);
    await world.effective(await world.controlOp((await world.programOp()).op_id, 'pause'));
    const verdict = await world.gateway.api.post(`/api/v1/approvals/${body.items[0]?.id}/approve`, bootstrapKey, {});
    expect(verdict.status, verdict.text).toBe(200);
    await eventually(async () => expect((await world.connection('running')).op_id).toBe(id));
    for (let round = 0; round < 20; round++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(clients).toBe(0);
    }
    await world.effective(await world.controlOp((await world.programOp()).op_id, 'resume'));
    await cli.ended();
    expect(cli.stdout).toMatch(/204 No Content/);
    expect(clients).toBe(1);
  });

  test('suspending the agent holds program and connections', async () => {
    await using cli = await talking();
    const agent = '/api/v1/agents/acme/core/ada';
    await world.gateway.api.post(`${agent}/suspend`, bootstrapKey, { reason: 'look' });
    await cli.says(/paused \(\d+ processes\)/, 'stderr');
    await expectStill();
    const [before = 0] = both();
    await world.gateway.api.post(`${agent}/resume`, bootstrapKey, { reason: '' });
    await eventually(() => expect(heard()).toBeGreaterThan(before));
    cli.child.kill('SIGTERM');
    await cli.ended();
  });

  test('a program that ends or is killed leaves no connection and no operation behind', async () => {
    for (const end of ['SIGTERM', 'killed inside'] as const) {
      await using cli = await talking();
      if (end === 'SIGTERM') cli.child.kill('SIGTERM');
      else for (const pid of processesWith('CONNECT 127.0.0.1').filter((each) => each !== cli.child.pid)) kill(pid);
      await cli.ended();
      expect(cli.exit().code).toBeGreaterThan(128);
      expect(await world.running()).toEqual([]);
      await eventually(() => expect(sockets.size).toBe(0));
    }
    expect(world.details().length).toBe(2);
    for (const detail of world.details()) expect(detail).toMatch(/^sent=\d{2,} received=\d{3,}$/);
  });

  test('if reeve run is killed, its connections are cut', async () => {
    await using cli = await talking();
    cli.child.kill('SIGKILL');
    await eventually(() => expect(sockets.size).toBe(0));
    await eventually(() => expect(processesWith('CONNECT 127.0.0.1')).toEqual([]));
  });

  test('without the gateway there are no new connections', async () => {
    const web = await world.web();
    const loop = `while :; do curl -sS -m 30 http://127.0.0.1:${web}/; echo; sleep 0.1; done`;
    await using cli = world.begin(['sh', '-c', loop]);
    await cli.says(/"url":"\/"/);
    await world.gateway.kill();
    await cli.says(/reeve run: denied, as no gateway answers/);
    cli.child.kill('SIGKILL');
  });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended with another.
  }
}
