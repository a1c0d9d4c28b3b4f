import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../tools.ts';

const run = promisify(execFile);
const home = join(cacheFolder, 'deploy');
const storage = ['--root', join(home, 'storage'), '--runroot', join(home, 'run'), '--storage-driver', 'overlay'];
const large = { maxBuffer: 64 * 1024 * 1024 };

/** What the image says of itself. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Healthcheck?: { readonly Test: readonly string[] };
  readonly StopSignal?: string;
}

export interface BuiltImage {
  /** Its root file system. */
  readonly root: string;
  readonly config: ImageConfig;
}

async function buildah(...args: string[]): Promise<string> {
  const { stdout } = await run('buildah', [...storage, ...args], large);
  return stdout.trim();
}

/**
 * Builds `deploy/Dockerfile` by buildah, which needs no daemon. The bases come from Debian itself, so that no registry of
 * images is needed: `debian:bookworm-slim` is what debootstrap makes, and `node:24-bookworm-slim` the same with the
 * repository's Node and the npm of this machine.
 */
export async function buildImage(arch: string, say: (line: string) => void): Promise<BuiltImage> {
  await ensureBases(say);
  say('building the image, which takes a few minutes');
  await buildah(
    ...['build', '--isolation', 'chroot', '--network', 'host', '--pull-never', '--format', 'docker', '--layers'],
    ...registryMounts().flatMap((mount) => ['--volume', mount]),
    ...['--build-arg', `TARGETARCH=${arch}`],
    ...['--tag', `reeve-${arch}`, '--file', 'deploy/Dockerfile', '.'],
  );
  const container = await buildah('from', '--pull-never', `localhost/reeve-${arch}`);
  const root = await buildah('mount', container);
  const { Docker } = JSON.parse(await buildah('inspect', container)) as { Docker: { config: ImageConfig } };
  return { root, config: Docker.config };
}

/** The registry of packages that this machine uses, and the authority behind it, as mounts for the build. */
function registryMounts(): string[] {
  const configured = (name: string) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const npmrc = join(home, 'npmrc');
  const authority = [configured('cafile'), process.env['NODE_EXTRA_CA_CERTS'] ?? ''].find((file) => existsSync(file));
  writeFileSync(
    npmrc,
    `registry=${configured('registry')}\n${authority === undefined ? '' : 'cafile=/root/authority.pem\n'}`,
  );
  return [`${npmrc}:/root/.npmrc:ro`, ...(authority === undefined ? [] : [`${authority}:/root/authority.pem:ro`])];
}

/** The bases, made once. */
async function ensureBases(say: (line: string) => void): Promise<void> {
  const names = await buildah('images', '--format', '{{.Name}}:{{.Tag}}');
  if (names.includes('docker.io/library/node:24-bookworm-slim')) return;
  const base = join(home, 'bookworm');
  if (!existsSync(base)) {
    say('making the base image by debootstrap');
    mkdirSync(home, { recursive: true });
    const aside = `${base}.${process.pid}`;
    await run('debootstrap', ['--variant=minbase', 'bookworm', aside], large);
    renameSync(aside, base);
  }
  await commitBase('scratch', 'docker.io/library/debian:bookworm-slim', (root) => {
    execFileSync('cp', ['-a', `${base}/.`, root]);
  });
  await commitBase('docker.io/library/debian:bookworm-slim', 'docker.io/library/node:24-bookworm-slim', (root) => {
    const local = join(root, 'usr/local');
    cpSync(realpathSync(resolve('node_modules/.bin/node')), join(local, 'bin/node'));
    const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim());
    execFileSync('cp', ['-a', join(npm, '../..'), join(local, 'lib/npm')]);
    symlinkSync('../lib/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  });
}

async function commitBase(from: string, name: string, fill: (root: string) => void): Promise<void> {
  const container = await buildah('from', '--pull-never', from);
  fill(await buildah('mount', container));
  await buildah('commit', '--rm', '--quiet', container, name);
}

/** Removes what was built, and keeps the bases for the next run. */
export async function forgetImages(arches: readonly string[]): Promise<void> {
  await buildah('rm', '--all');
  for (const arch of arches) await buildah('rmi', '--force', `localhost/reeve-${arch}`).catch(() => undefined);
  rmSync(join(home, 'npmrc'), { force: true });
}
