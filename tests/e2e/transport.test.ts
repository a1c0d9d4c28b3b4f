import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import {
  CheckActionRequest,
  CheckActionResponse,
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as Status,
  paths,
} from '@reeve/contract';
import { ServerReflectionRequest, ServerReflectionResponse } from '@reeve/contract/reflection';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, checkRequest, TestGateway } from '../harness/gateway.ts';
import { GrpcClient } from '../harness/grpc-client.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

function health(service: string) {
  return gateway.client.call(paths.healthCheck, HealthCheckRequest, HealthCheckResponse, { service });
}

test('the standard health service answers for the server and for each service', async () => {
  for (const service of ['', 'reeve.v1.PolicyService', 'reeve.v1.AgentService']) {
    expect(await health(service)).toEqual({ status: Status.SERVING });
  }
  await expect(health('nobody.v1.Knows')).rejects.toMatchObject({ code: 5 });
});

async function reflect(path: string, ...asked: ServerReflectionRequest['messageRequest'][]) {
  const stream = gateway.client.stream(path, ServerReflectionRequest, ServerReflectionResponse);
  const answers: ServerReflectionResponse[] = [];
  stream.on('data', (answer: ServerReflectionResponse) => answers.push(answer));
  for (const messageRequest of asked) stream.write({ host: '', messageRequest });
  stream.end();
  await once(stream, 'end');
  return answers.map((answer) => answer.messageResponse);
}

test.each([paths.reflectionV1, paths.reflectionV1Alpha])(
  '%s lists the services and hands out their files',
  async (path) => {
    const [list, file, byName, unknown] = await reflect(
      path,
      { $case: 'listServices', value: '' },
      { $case: 'fileContainingSymbol', value: 'reeve.v1.PolicyService.CheckAction' },
      { $case: 'fileByFilename', value: 'reeve/v1/common.proto' },
      { $case: 'fileContainingSymbol', value: 'reeve.v1.Nothing' },
    );
    expect(list).toMatchObject({
      value: {
        service: expect.arrayContaining([
          { name: 'reeve.v1.PolicyService' },
          { name: 'reeve.v1.AgentService' },
          { name: 'grpc.health.v1.Health' },
        ]),
      },
    });
    // The file itself and its import.
    expect(file).toMatchObject({ $case: 'fileDescriptorResponse', value: { fileDescriptorProto: { length: 2 } } });
    expect(byName).toMatchObject({ $case: 'fileDescriptorResponse', value: { fileDescriptorProto: { length: 1 } } });
    expect(unknown).toMatchObject({ $case: 'errorResponse', value: { errorCode: 5 } });
  },
);

test('TLS on both ports when configured', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-tls-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert, ...subject],
    { stdio: 'pipe' },
  );
  try {
    await using secure = await TestGateway.start({ env: { SVC_TLS_CERT: cert, SVC_TLS_KEY: key } });
    expect(secure.http).toMatch(/^https:/);
    const client = new GrpcClient(secure.grpc, credentials.createSsl(readFileSync(cert)));
    expect(await client.call(paths.healthCheck, HealthCheckRequest, HealthCheckResponse, { service: '' })).toEqual({
      status: Status.SERVING,
    });
    client.close();
    const stream = await EventSocket.open(secure.http.replace('127.0.0.1', 'localhost'), { ca: readFileSync(cert) });
    expect(stream.messages).toEqual([{ event_type: 'hello', cursor: expect.any(Number) }]);
    stream.close();
    await expect(
      secure.client.call(
        paths.healthCheck,
        HealthCheckRequest,
        HealthCheckResponse,
        { service: '' },
        { deadlineMs: 2000 },
      ),
    ).rejects.toThrow();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('SIGTERM answers what is in flight, tells watchers, ends streams and exits 0', async () => {
  await using leaving = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const agent = await leaving.register({ agentId: 'a' });
  const watch = leaving.client.stream(paths.healthWatch, HealthCheckRequest, HealthCheckResponse);
  const seen: number[] = [];
  watch.on('data', ({ status }: HealthCheckResponse) => seen.push(status));
  watch.on('error', () => {});
  watch.write({ service: '' });
  await eventually(() => expect(seen).toEqual([Status.SERVING]));

  const stream = leaving.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
  let answered = 0;
  stream.on('data', () => answered++);
  const ended = once(stream, 'error');
  for (let i = 0; i < 500; i++) stream.write(checkRequest(agent));
  await eventually(() => expect(answered).toBeGreaterThan(0));
  leaving.child.kill('SIGTERM');
  expect((await ended)[0]).toMatchObject({ code: 14 });
  expect(await leaving.exited()).toBe(0);
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
  expect(leaving.audit().filter((entry) => entry.event_type === 'ActionAllowed').length).toBeGreaterThanOrEqual(
    answered,
  );
});
