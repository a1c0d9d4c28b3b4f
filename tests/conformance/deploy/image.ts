import { ok, equal, match } from 'node:assert/strict';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GrpcClient } from '../../harness/grpc-client.ts';
import { Contained, runContained } from './contained.ts';
import { debianProgram } from './debian-package.ts';
import type { BuiltImage } from './image-builder.ts';
import { buildImage, forgetImages } from './image-builder.ts';
import type { Trials } from './trials.ts';
import { HealthCheckRequest, HealthCheckResponse, paths } from '@reeve/contract';

/** On loopback, as everything that a test starts. */
const loopback = { SVC_HTTP_ADDR: '127.0.0.1:0', SVC_GRPC_ADDR: '127.0.0.1:0' };
const arches = ['amd64', 'arm64'];

/** Builds the image, and starts its root file system as an engine would: its user, a root that cannot be written. */
export async function tryImage(trials: Trials): Promise<void> {
  const { say, trial, missing } = trials;
  if (process.getuid?.() !== 0) return missing('the image: run as root, which namespaces and mounts need');
  if (!debianProgram('buildah', trials) || !debianProgram('debootstrap', trials)) return;
  const data = mkdtempSync(join(tmpdir(), 'reeve-volume-'));
  try {
    const own = process.arch === 'x64' ? 'amd64' : 'arm64';
    let image: BuiltImage | undefined;
    await trial('the Dockerfile builds, by buildah, for this machine', async () => {
      image = await buildImage(own, say);
    });
    if (image !== undefined) await tryContainer(image, data, trials);
    await trial('the Dockerfile builds for the other architecture, with its Node', async () => {
      const other = own === 'amd64' ? 'arm64' : 'amd64';
      const { root } = await buildImage(other, say);
      // The machine of an ELF file stands at its 18th byte: 62 is x86-64, 183 is AArch64.
      const machine = readFileSync(join(root, 'usr/local/bin/node')).readUInt16LE(18);
      equal(machine, other === 'amd64' ? 62 : 183);
    });
  } finally {
    rmSync(data, { recursive: true, force: true });
    await forgetImages(arches);
  }
}

async function tryContainer(image: BuiltImage, data: string, { trial }: Trials): Promise<void> {
  const { config, root } = image;
  const [user = 0, group = 0] = config.User.split(':').map(Number);
  chownSync(data, user, group);

  await trial('it has a numeric user, a volume, a health check, and the exec form', () => {
    ok(user > 0 && group > 0);
    ok('/var/lib/reeve' in config.Volumes);
    equal(config.StopSignal, 'SIGTERM');
    equal(config.Healthcheck?.Test[0], 'CMD');
    equal(config.Entrypoint[0], '/usr/local/bin/reeve');
  });
  await trial('it holds neither npm nor sources nor development packages', () => {
    for (const path of ['usr/local/lib/node_modules', 'opt/reeve/node_modules', 'opt/reeve/packages/core']) {
      ok(!existsSync(join(root, path)), `${path} is there`);
    }
  });
  await trial('the command line works in it', () => {
    const { status, stdout, stderr } = runContained({ image, data, command: ['/usr/local/bin/reeve', '--version'] });
    equal(status, 0, stderr);
    equal(stdout.split('\n')[0]?.startsWith('reeve '), true);
  });

  let key: string | undefined;
  await trial(
    'it starts with a read-only root and no capability, is ready, and serves the dashboard and gRPC',
    async () => {
      await using gateway = await Contained.start({ image, data, env: loopback });
      equal((await fetch(`${gateway.http}/readyz`)).status, 200);
      match(await (await fetch(`${gateway.http}/`)).text(), /<div id="root">/);
      const client = new GrpcClient(gateway.grpc);
      const { status } = await client.call(paths.healthCheck, HealthCheckRequest, HealthCheckResponse, { service: '' });
      equal(status, 1);
      client.close();
      const about = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
      match(about, new RegExp(`^Uid:\\t${user}\\t${user}\\t${user}\\t${user}$`, 'm'));
      match(about, /^CapEff:\t0+$/m);
      match(about, /^NSpid:.*\t1$/m);
      key = /rvk_\w+/.exec(gateway.log)?.[0];
      ok(key !== undefined, 'the first start printed no key');
      equal(statSync(join(data, 'data')).mode & 0o777, 0o700);
      const port = new URL(gateway.http).port;
      const check = { image, data, command: config.Healthcheck?.Test.slice(1) ?? [] };
      equal(runContained({ ...check, env: { SVC_HTTP_ADDR: `127.0.0.1:${port}` } }).status, 0, 'the health check');
      equal(runContained({ ...check, env: { SVC_HTTP_ADDR: '127.0.0.1:1' } }).status, 1, 'the health check of nobody');
      const made = await fetch(`${gateway.http}/api/v1/iam/api-keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ label: 'kept', scopes: ['read'] }),
      });
      equal(made.status, 201);
      equal(await gateway.stop('SIGTERM'), 0, 'SIGTERM to process 1');
    },
  );
  await trial('the data survives, and so it does when the container is killed', async () => {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await using gateway = await Contained.start({ image, data, env: loopback });
      const answer = await fetch(`${gateway.http}/api/v1/iam/api-keys`, {
        headers: { authorization: `Bearer ${key}` },
      });
      equal(answer.status, 200);
      const { items } = (await answer.json()) as { items: { label: string }[] };
      ok(items.some(({ label }) => label === 'kept'));
      await gateway.stop(signal);
    }
  });
  await trial('a start that fails ends with its own exit code', () => {
    const { status, stderr } = runContained({ image, data, env: { ...loopback, SVC_NO_SUCH_SETTING: '1' } });
    equal(status, 2);
    match(stderr, /unknown setting SVC_NO_SUCH_SETTING/);
  });
  await trial('nothing but the volume and /tmp can be written', () => {
    const write = ['/bin/sh', '-c', 'touch /tmp/a /var/lib/reeve/a && ! touch /opt/reeve/a && ! touch /etc/a'];
    equal(runContained({ image, data, command: write }).status, 0);
  });
}
