import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { endWithUs } from '../harness/end-with-us.ts';
import { eventually } from '../harness/eventually.ts';
import { lastSignal, reeveCommand } from '../harness/reeve-command.ts';
import type { McpWorld } from './mcp-world.ts';

/** A process that prints where it listens, and what it says. */
export class Listening implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    endWithUs(child);
    child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  address(): Promise<string> {
    return eventually(() => {
      const found = /http:\/\/127\.0\.0\.1:\d+[^\s"]*/.exec(this.stdout)?.[0];
      if (found === undefined) throw new Error(`no address: ${this.stdout}${this.stderr}`);
      return found;
    }, 400);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const closed = new Promise((done) => this.child.once('close', done));
      this.child.kill(signal);
      await closed;
    }
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end(lastSignal);
  }
}

/** One of the servers in `tests/doors/servers`, over HTTP. */
export function startServer(name: string, env: Readonly<Record<string, string>> = {}): Listening {
  return startScript(resolve('tests/doors/servers', `${name}.mjs`), [], env);
}

export function startScript(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Listening {
  return new Listening(spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env }, stdio: 'pipe' }));
}

/** `reeve mcp serve` with these servers. */
export function serveServers(
  world: McpWorld,
  servers: Readonly<Record<string, unknown>>,
  options: readonly string[] = [],
): Listening {
  return serveFile(world, { servers }, options);
}

/** `reeve mcp serve` with this content of its file. */
export function serveFile(
  world: McpWorld,
  content: Readonly<Record<string, unknown>>,
  options: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Listening {
  const config = join(world.folder, 'mcp.yaml');
  writeFileSync(config, JSON.stringify(content));
  const args = ['mcp', 'serve', '--config', config, '--http', '127.0.0.1:0', ...options];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|REEVE_)/.test(name));
  const env = { ...Object.fromEntries(inherited), REEVE_GRPC_ADDR: world.gateway.grpc, ...more };
  const [program = '', ...before] = reeveCommand;
  return new Listening(spawn(program, [...before, ...args], { env, stdio: 'pipe' }));
}
