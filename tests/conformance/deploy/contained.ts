import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endWithUs } from '../../harness/end-with-us.ts';
import type { BuiltImage } from './image-builder.ts';

/**
 * The script of a container's first process: a read-only view of the root, with /proc, an empty /tmp and the volume. The
 * network is that of this machine. No capability is left, and none can be gained.
 */
const script = `set -e
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount -t proc proc "$ROOT/proc"
mount -t tmpfs tmpfs "$ROOT/tmp"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/dev"
for device in null zero random urandom; do touch "$ROOT/dev/$device"; mount --bind "/dev/$device" "$ROOT/dev/$device"; done
mount --bind "$DATA" "$ROOT/var/lib/reeve"
cd "$ROOT"
exec chroot . /usr/bin/setpriv --reuid="$ID" --regid="$ID" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \\
  /usr/bin/env --ignore-environment --chdir=/var/lib/reeve "$@"
`;

export interface ContainedOptions {
  readonly image: BuiltImage;
  /** A folder of this machine in place of the volume. It belongs to the user of the image. */
  readonly data: string;
  readonly env?: Readonly<Record<string, string>>;
  /** In place of the image's own command. */
  readonly command?: readonly string[];
}

function argsOf({ image: { config }, env = {}, command }: ContainedOptions): string[] {
  const given = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  return [...given, ...(command ?? [...config.Entrypoint, ...config.Cmd])];
}

function unshare(options: ContainedOptions): [string, string[], NodeJS.ProcessEnv] {
  const { image, data } = options;
  const [id = ''] = image.config.User.split(':');
  const args = [
    '--mount',
    '--pid',
    '--ipc',
    '--uts',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    script,
    'sh',
    ...argsOf(options),
  ];
  return ['unshare', args, { PATH: process.env['PATH'], ROOT: image.root, DATA: data, ID: id }];
}

/** Runs a command of the image to its end. */
export function runContained(options: ContainedOptions): { status: number | null; stdout: string; stderr: string } {
  const [program, args, env] = unshare(options);
  return spawnSync(program, args, { env, encoding: 'utf8' });
}

/** The gateway of the image, as the first process of namespaces of its own. */
export class Contained {
  readonly http: string;
  readonly grpc: string;
  readonly #child: ChildProcess;
  readonly #log: () => string;

  private constructor(child: ChildProcess, log: () => string, { http, grpc }: { http: string; grpc: string }) {
    this.#child = child;
    this.#log = log;
    this.http = http;
    this.grpc = grpc;
  }

  static async start(options: ContainedOptions): Promise<Contained> {
    const [program, args, env] = unshare(options);
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(child);
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
      once(child, 'close').then(() => undefined),
    ]);
    if (line === undefined) throw new Error(`the gateway did not start: ${log}`);
    return new Contained(child, () => log, JSON.parse(line) as { http: string; grpc: string });
  }

  get log(): string {
    return this.#log();
  }

  /** The id of the gateway on this machine. In its own namespace it is 1. */
  get pid(): number {
    const { stdout } = spawnSync('pgrep', ['--parent', String(this.#child.pid)], { encoding: 'utf8' });
    return Number(stdout.trim());
  }

  /** Sends the gateway a signal, and waits for its exit code. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const closed = once(this.#child, 'close');
    process.kill(this.pid, signal);
    await closed;
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    await this.stop('SIGKILL');
  }
}
