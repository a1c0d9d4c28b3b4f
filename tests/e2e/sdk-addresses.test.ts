import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Agent, ConnectionEvent, ConnectOptions, Operation, Reeve, RegisterOptions } from '@reeve/sdk';
import { connect, OperationTerminatedError } from '@reeve/sdk';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { NetworkLink } from '../harness/network-link.ts';

const id = { orgId: 'acme', teamId: 'support', agentId: 'bot' };
const many = (count: number) => Array.from({ length: count }, (_, index) => index);
const addressOf = (link: NetworkLink) => new URL(link.http).host;

/** A gateway that is reached over several links, as if there were several that act as one. */
class Cluster implements AsyncDisposable {
  readonly gateway: TestGateway;
  readonly links: readonly NetworkLink[];
  readonly events: ConnectionEvent[] = [];

  private constructor(gateway: TestGateway, links: readonly NetworkLink[]) {
    this.gateway = gateway;
    this.links = links;
  }

  static async start(count: number): Promise<Cluster> {
    const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const links = await Promise.all(many(count).map(() => NetworkLink.to({ http: `http://${gateway.grpc}` })));
    return new Cluster(gateway, links);
  }

  connect(options: Partial<ConnectOptions> = {}): Reeve {
    const addresses = this.links.map(addressOf);
    return connect({ addresses, apiKey: bootstrapKey, deadlineMs: 20_000, onUnavailable: 'throw', ...options });
  }

  register(reeve: Reeve, options: Partial<RegisterOptions> = {}): Promise<Agent> {
    return reeve.register({ ...id, onConnection: (event) => this.events.push(event), ...options });
  }

  /** The link in use, by the events of the agent. */
  used(): Promise<NetworkLink> {
    return eventually(() => {
      const event = this.events.at(-1);
      const link = this.links.find((each) => event?.type === 'connected' && addressOf(each) === event.address);
      if (link === undefined) throw new Error('there is no connection');
      return link;
    });
  }

  /** The entries of each operation, as `<event> <state>`, without those that only repeat an answer. */
  record(): Map<string, string[]> {
    const record = new Map<string, string[]>();
    for (const { op_id: opId, event_type: type, payload } of this.gateway.audit()) {
      if (typeof opId !== 'string' || opId === '' || payload['replay'] === true) continue;
      const to = 'to' in payload ? String(payload['to']) : '';
      record.set(opId, [...(record.get(opId) ?? []), `${type} ${to}`.trim()]);
    }
    return record;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.links) await link[Symbol.asyncDispose]();
    await this.gateway[Symbol.asyncDispose]();
  }
}

test('work goes on over links that break one after another, and all of it is on record once', async () => {
  await using cluster = await Cluster.start(3);
  using reeve = cluster.connect();
  const agent = await cluster.register(reeve);
  for (const round of many(6)) {
    const link = await cluster.used();
    const work = many(12).map((i) =>
      agent.run({ tool: 'a' }, () => sleep(5 * i), { traceId: `r${round}`, spanId: `s${i}` }),
    );
    await sleep(20);
    link.cut();
    await Promise.all(work);
    await eventually(async () => expect(await cluster.used()).not.toBe(link));
    link.mend();
  }
  const record = cluster.record();
  expect(record.size).toBe(72);
  for (const entries of record.values()) expect(entries).toEqual(['ActionAllowed', 'OpStateChanged completing']);
  await agent.deregister();
});

test('a gateway that no longer answers is left, and what it had taken is not done twice', async () => {
  await using cluster = await Cluster.start(2);
  using reeve = cluster.connect();
  const agent = await cluster.register(reeve);
  const link = await cluster.used();
  link.loseAnswers();
  const answers = await Promise.all(many(20).map((i) => agent.check({ tool: 'a' }, { traceId: 't', spanId: `s${i}` })));
  expect(answers.every(({ allowed, source }) => allowed && source === 'gateway')).toBe(true);
  await eventually(async () => expect(await cluster.used()).not.toBe(link));
  await agent.heartbeat();
  const record = cluster.record();
  expect(record.size).toBe(20);
  for (const entries of record.values()) expect(entries).toEqual(['ActionAllowed']);
  for (const { opId } of answers) await agent.complete(opId);
});

test('an operator reaches work whose agent has gone to another gateway, and hears what became of it', async () => {
  await using cluster = await Cluster.start(2);
  using reeve = cluster.connect();
  const agent = await cluster.register(reeve);
  await cluster.used();
  const steps: number[] = [];
  const started = Promise.withResolvers<Operation>();
  const run = agent.run({ tool: 'a' }, async (operation) => {
    started.resolve(operation);
    for (;;) {
      await operation.checkpoint();
      steps.push(steps.length);
      await sleep(10);
    }
  });
  run.catch(() => {});
  const { id: opId } = await started.promise;
  const path = `/api/v1/ops/${encodeURIComponent(opId)}`;
  const confirmed = (action: string) =>
    eventually(async () => {
      const { body } = await cluster.gateway.api.get<{ control: object }>(path, bootstrapKey);
      expect(body.control).toMatchObject({ action, status: 'effective' });
    });
  for (const action of ['pause', 'resume', 'pause', 'resume', 'terminate']) {
    const link = await cluster.used();
    link.cut();
    await cluster.gateway.api.post(`${path}/${action}`, bootstrapKey, { reason: 'a test' });
    await confirmed(action);
    link.mend();
  }
  await expect(run).rejects.toBeInstanceOf(OperationTerminatedError);
  const addresses = cluster.events.filter(({ type }) => type === 'connected').map(({ address }) => address);
  for (const [index, address] of addresses.entries()) expect(address).not.toBe(addresses[index + 1]);
  expect(JSON.stringify(cluster.events)).not.toMatch(/rvk_|rva_/);
});

test('a report that no gateway took is delivered to the first that returns, once', async () => {
  await using cluster = await Cluster.start(2);
  using reeve = cluster.connect({ deadlineMs: 500 });
  const agent = await cluster.register(reeve);
  const link = await cluster.used();
  const result = await agent.run(
    { tool: 'a' },
    () => {
      for (const each of cluster.links) each.cut();
      return 'done';
    },
    { traceId: 't', spanId: 's' },
  );
  expect(result).toBe('done');
  const other = cluster.links.find((each) => each !== link);
  other?.mend();
  await eventually(() => expect(cluster.record().get('t:s')?.length).toBeGreaterThan(1));
  expect(await cluster.used()).toBe(other);
  await agent.heartbeat({ deadlineMs: 20_000 });
  expect(cluster.record().get('t:s')).toHaveLength(2);
});

test('when no gateway answers, everything is denied, and nothing is once one is back', async () => {
  await using cluster = await Cluster.start(2);
  using reeve = cluster.connect({ onUnavailable: 'deny', deadlineMs: 1500 });
  const agent = await cluster.register(reeve);
  for (const link of cluster.links) link.cut();
  for (const _ of many(5)) {
    const answer = await agent.check({ tool: 'a' });
    expect(answer).toMatchObject({ decision: 'deny', source: 'sdk' });
    expect(answer.reason).toMatch(/^gateway unreachable: /);
  }
  cluster.links[0]?.mend();
  await eventually(async () => expect(await agent.check({ tool: 'a' })).toMatchObject({ allowed: true }));
});

/** Gateways of their own, which know the same agent by the same token. */
async function startTwins(env: (nth: number) => Record<string, string> = () => ({})) {
  const start = (nth: number) => TestGateway.start({ policies: { 'all.yaml': allowAll }, env: env(nth) });
  return Promise.all([start(0), start(1)]);
}

test('a gateway that is told to stop fails no call', async () => {
  const [left, right] = await startTwins();
  await using _left = left;
  await using _right = right;
  const { token } = await left.register(id);
  await right.register(id, { credentialToken: token });
  const events: ConnectionEvent[] = [];
  const options = { onUnavailable: 'throw', retry: { burst: 0, ratio: 0 }, deadlineMs: 20_000 } as const;
  using reeve = connect({ addresses: [left.grpc, right.grpc], ...options });
  const agent = reeve.attach({ ...id, token, onConnection: (event) => events.push(event) });
  const used = await eventually(() => {
    expect(events).toMatchObject([{ type: 'connected' }]);
    return events[0]?.address === left.grpc ? left : right;
  });
  const enough = new AbortController();
  const calls = { checks: 0, batches: 0, beats: 0 };
  const load = (kind: keyof typeof calls, call: () => Promise<unknown>) =>
    many(kind === 'checks' ? 24 : 4).map(async () => {
      for (; !enough.signal.aborted; calls[kind]++) await call();
    });
  const loads = [
    ...load('checks', () => agent.check({ tool: 'a' })),
    ...load('batches', () => agent.checkMany(many(20).map(() => ({ action: { tool: 'a' } })))),
    ...load('beats', () => agent.heartbeat()),
  ];
  await eventually(() => expect(calls.checks).toBeGreaterThan(100));
  expect(await used.kill('SIGTERM')).toBe(0);
  const before = { ...calls };
  await eventually(() => {
    for (const kind of ['checks', 'batches', 'beats'] as const) expect(calls[kind]).toBeGreaterThan(before[kind] + 8);
  });
  enough.abort();
  await Promise.all(loads);
  const address = used === left ? right.grpc : left.grpc;
  await eventually(() => expect(events.at(-1)).toEqual({ type: 'connected', address, again: true }));
});

test('the certificate of each gateway is checked against its own address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-sdk-addresses-'));
  try {
    const names = ['DNS:localhost', 'IP:127.0.0.1'];
    const files = names.map((name, nth) => {
      const [cert, key] = [join(folder, `cert-${nth}.pem`), join(folder, `key-${nth}.pem`)];
      const subject = ['-subj', `/CN=gateway-${nth}`, '-addext', `subjectAltName=${name}`];
      const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
      execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'pipe' });
      return { cert, key };
    });
    const [named, numbered] = await startTwins((nth) => ({
      SVC_TLS_CERT: files[nth]?.cert ?? '',
      SVC_TLS_KEY: files[nth]?.key ?? '',
    }));
    await using _named = named;
    await using _numbered = numbered;
    const ca = files.map(({ cert }) => readFileSync(cert, 'utf8')).join('\n');
    const byName = ({ grpc }: TestGateway) => grpc.replace('127.0.0.1', 'localhost');
    const register = async (addresses: string[], deadlineMs = 20_000) => {
      using reeve = connect({ addresses, apiKey: bootstrapKey, tls: { ca }, deadlineMs });
      return (await reeve.register(id)).id;
    };
    const nobody = '127.0.0.1:1';
    expect(await register([byName(named), numbered.grpc])).toEqual(id);
    expect(await register([byName(named), nobody])).toEqual(id);
    expect(await register([nobody, numbered.grpc])).toEqual(id);
    await expect(register([named.grpc, byName(numbered)], 1000)).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the example takes several addresses from REEVE_GRPC_ADDR', async () => {
  await using gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
  const runExample = (addresses: string) => {
    const env = { ...process.env, REEVE_GRPC_ADDR: addresses, REEVE_API_KEY: bootstrapKey };
    return promisify(execFile)(process.execPath, ['examples/hello-agent.ts'], { env });
  };
  const { stdout } = await runExample(`127.0.0.1:1, ${gateway.grpc}`);
  expect(stdout).toMatch(/^allow +search_docs/m);
  await expect(runExample(`${gateway.grpc},`)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('addresses[1]: must be host:port'),
  });
});
