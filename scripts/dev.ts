// npm run dev: a gateway from the sources that starts anew when they change, and the dashboard with hot reload before it.
//
// People use the address of the dashboard: Vite serves its sources, and passes everything else to the gateway. The store is
// in .reeve/dev. What follows `--` goes to `reeve serve`, except --http. REEVE_DEV_PORT and REEVE_DEV_GATEWAY name other
// places to listen at.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import type { ProxyOptions } from 'vite';
import { createServer } from 'vite';

const home = join(import.meta.dirname, '..');
const { REEVE_DEV_PORT: port = '5173', REEVE_DEV_GATEWAY: address = '127.0.0.1:8080' } = process.env;

/** What the gateway answers, rather than the dashboard. */
const paths = ['/api', '/iam', '/docs', '/openapi.json', '/healthz', '/readyz', '/metrics', '/.well-known'];
const sources = ['contract', 'core', 'grpc-server', 'gateway', 'sdk', 'proxy', 'cli'];

/** Starts the gateway, and again whenever it is told that a source has changed. */
class RestartingGateway {
  readonly #origin: string;
  #child: ChildProcess | undefined;
  #isWanted = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(origin: string) {
    this.#origin = origin;
  }

  start(): void {
    const given = process.argv.slice(2);
    const data = given.includes('--data') ? [] : ['--data', join(home, '.reeve/dev')];
    const reeve = join(home, 'packages/cli/bin/reeve.mjs');
    this.#child = spawn(process.execPath, [reeve, 'serve', ...data, ...given, '--http', address], {
      // The origin of the page, which may sign in and open event streams.
      env: { ...process.env, SVC_PUBLIC_URL: this.#origin },
      stdio: 'inherit',
    });
  }

  /** An editor writes a file in several steps, and one writes many files at once. */
  changed(file: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#restart(file), 150);
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    clearTimeout(this.#timer);
    await this.#end();
  }

  async #restart(file: string): Promise<void> {
    process.stdout.write(`${file} has changed: the gateway starts anew\n`);
    await this.#end();
    if (this.#isWanted) this.start();
  }

  /** The data folder is free once the process is gone. */
  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  }
}

const passedOn: ProxyOptions = { target: `http://${address}`, ws: true };
const vite = await createServer({
  configFile: join(home, 'packages/dashboard/vite.config.ts'),
  server: {
    host: '127.0.0.1',
    port: Number(port),
    strictPort: true,
    proxy: Object.fromEntries(paths.map((path) => [path, passedOn])),
  },
});
await vite.listen();

const gateway = new RestartingGateway(`http://127.0.0.1:${port}`);
gateway.start();
for (const name of sources) {
  watch(join(home, 'packages', name, 'src'), { recursive: true }, (_, file) => {
    if (file?.endsWith('.ts') === true && !file.endsWith('.test.ts'))
      gateway.changed(join('packages', name, 'src', file));
  });
}
process.stdout.write(`dashboard http://127.0.0.1:${port}, gateway http://${address}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void Promise.all([gateway.stop(), vite.close()]).then(() => process.exit(0));
  });
}
