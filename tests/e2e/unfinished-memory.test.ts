import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { HeartbeatRequest, HeartbeatResponse, paths } from '@reeve/contract';
import { describe, expect, test } from 'vitest';
import { residentBytes } from '../fuzz/memory.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { data, emptySettings, framed, RawClient, request } from '../../packages/grpc-server/src/testkit/raw-client.ts';

const mebibyte = 2 ** 20;
/** What a tenant's unfinished messages may take twice over, and far less than what the test sends. */
const mostGrowth = 420 * mebibyte;
const large = Buffer.alloc(4 * mebibyte - 64, 'x');

describe('what is sent and never finished stays within bounded memory', { timeout: 180_000 }, () => {
  test('over all connections of a tenant that has shown its credential, and others are answered', async () => {
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const agent = await gateway.register({ orgId: 'evil', agentId: 'bot' });
    const good = await gateway.register({ orgId: 'good', agentId: 'good' });
    const before = await residentBytes(gateway.http);
    const clients = await Promise.all(Array.from({ length: 250 }, () => beginLarge(gateway.grpc, agent)));
    const most = { grown: 0 };
    await eventually(async () => {
      const grown = (await residentBytes(gateway.http)) - before;
      const isStill = grown <= most.grown;
      most.grown = Math.max(grown, most.grown);
      expect(isStill).toBe(true);
    });
    expect(most.grown).toBeLessThan(mostGrowth);
    expect((await gateway.check(good)).decision).toBe(1);
    for (const close of clients) close();
  });

  test('in calls of a tenant that are left open, which are told which bound they meet', async () => {
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const agent = await gateway.register({ orgId: 'evil', agentId: 'bot' });
    const good = await gateway.register({ orgId: 'good', agentId: 'good' });
    const port = Number(gateway.grpc.split(':').at(-1));
    const clients: RawClient[] = [];
    for (const count of [9000, 9000, 9000, 9000, 9000, 5000]) {
      const client = await RawClient.open(port, emptySettings, request(1, paths.heartbeat), beat(agent));
      clients.push(client);
      await client.answer(1);
      for (let call = 1; call <= count; call++) client.write(request(2 * call + 1, paths.checkStream));
      await client.settled();
    }
    clients[0]?.write(request(20_001, paths.checkStream));
    const refused = await clients[0]?.answer(20_001);
    expect(refused?.get('grpc-message')).toMatch(/^50000 calls of this account are open/);
    expect((await gateway.check(good)).decision).toBe(1);
    // Whoever has few calls has them still: those with most make room.
    expect((await gateway.check(agent)).decision).toBe(1);
    for (const client of clients) client.destroy();
  });

  test('in bodies of HTTP, together with messages over gRPC', async () => {
    await using gateway = await TestGateway.start({ env: { SVC_RATE_LIMIT_API_PER_MIN: '0' } });
    const { hostname, port, host } = new URL(gateway.http);
    const before = await residentBytes(gateway.http);
    const head = [
      'PUT /api/v1/policies/x HTTP/1.1',
      `Host: ${host}`,
      `Authorization: Bearer ${bootstrapKey}`,
      'Content-Type: application/json',
      `Content-Length: ${mebibyte}`,
    ];
    const part = Buffer.alloc(mebibyte - 1, 'x');
    const sockets = await Promise.all(
      Array.from({ length: 600 }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined).resume();
        await once(socket, 'connect');
        socket.write(`${head.join('\r\n')}\r\n\r\n`);
        await new Promise<void>((resolve) => {
          socket.once('close', resolve);
          socket.write(part, () => resolve());
        });
        return socket;
      }),
    );
    await eventually(() => expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThan(200));
    expect((await residentBytes(gateway.http)) - before).toBeLessThan(mostGrowth);
    expect((await gateway.api.get('/api/v1/policies', bootstrapKey)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

function beat({ id, token }: Registered): Buffer {
  return data(1, framed(HeartbeatRequest.encode({ agentId: id, credentialToken: token }).finish()), true);
}

/** Shows a credential, and then sends all of a message but its last bytes. */
async function beginLarge(grpc: string, { id, token }: Registered): Promise<() => void> {
  const session = connectHttp2(`http://${grpc}`);
  session.on('error', () => undefined);
  const call = (path: string) => {
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = session.request(head, { endStream: false });
    stream.on('error', () => undefined);
    return stream;
  };
  const heartbeat = call(paths.heartbeat);
  heartbeat.end(framed(HeartbeatRequest.encode({ agentId: id, credentialToken: token }).finish()));
  const answer: Buffer[] = [];
  heartbeat.on('data', (chunk: Buffer) => answer.push(chunk));
  await once(heartbeat, 'end');
  expect(HeartbeatResponse.decode(Buffer.concat(answer).subarray(5)).suspended).toBe(false);
  call(paths.checkAction).write(framed(large.subarray(64), large.length));
  return () => session.destroy();
}
