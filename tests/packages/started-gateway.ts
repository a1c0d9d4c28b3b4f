import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithUs } from '../harness/end-with-us.ts';

/** A well-formed key, known only to tests. */
export const adminKey = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

/** A gateway that some installed `reeve` runs. It is called from outside, as a stranger would. */
export class StartedGateway {
  readonly http: string;
  readonly grpc: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(http: string, grpc: string, child: ChildProcess, folder: string) {
    this.http = http;
    this.grpc = grpc;
    this.#child = child;
    this.#folder = folder;
  }

  /** Runs `serve` of a command, with nothing else in its environment than given. */
  static async start(program: string, env: Readonly<Record<string, string>>): Promise<StartedGateway> {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-installed-'));
    mkdirSync(join(folder, 'policies'));
    writeFileSync(join(folder, 'policies', 'all.yaml'), 'name: test\ndefault: allow\n');
    const args = ['serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', folder];
    const child = spawn(program, args, {
      cwd: folder,
      env: { HOME: folder, SVC_BOOTSTRAP_API_KEY: adminKey, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithUs(child);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
      once(child, 'close').then(() => undefined),
    ]);
    if (line === undefined) throw new Error(`the gateway did not start: ${said}`);
    const { http, grpc } = JSON.parse(line) as { http: string; grpc: string };
    return new StartedGateway(http, grpc, child, folder);
  }

  /** Goes once through everything that is not plain code of the process: its threads, its files, its manifest. */
  async exercise(version: string): Promise<void> {
    const ready = (await this.#json('GET', '/readyz')) as { status: string; version: string };
    assert.deepEqual([ready.status, ready.version], ['ok', version]);
    await this.#servesDashboard();
    // A password is hashed and verified in a thread.
    const person = { email: 'owner@example.com', password: 'seven quiet lamps' };
    await this.#json('POST', '/api/v1/auth/register', { ...person, name: 'Owner' }, 201);
    await this.#json('POST', '/api/v1/auth/login', person);
    // A policy is checked in another.
    const source = 'name: tried\ndefault: deny\nrules:\n  - id: one\n    effect: allow\n    tools: ["read_*"]\n';
    const checked = (await this.#json('POST', '/api/v1/policies/validate', { source })) as { valid: boolean };
    assert.deepEqual(typeof checked.valid, 'boolean');
    // The log is read in a third one.
    const { items } = (await this.#json('GET', '/api/v1/logs')) as { items: readonly unknown[] };
    assert.ok(items.length > 0, 'the log has no entries');
  }

  async #servesDashboard(): Promise<void> {
    const page = await (await fetch(this.http)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
    assert.ok(script !== undefined, `the page of the dashboard has no script: ${page.slice(0, 200)}`);
    const { status, headers } = await fetch(`${this.http}${script}`);
    assert.deepEqual([status, headers.get('content-type')?.split(';')[0]], [200, 'text/javascript']);
  }

  async #json(method: string, path: string, body?: object, expected = 200): Promise<unknown> {
    const answer = await fetch(`${this.http}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${adminKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.equal(answer.status, expected, `${method} ${path}: ${text}`);
    return JSON.parse(text) as unknown;
  }

  /** Ends it as an operator would, and returns the exit code. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
