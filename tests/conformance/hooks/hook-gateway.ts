import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from '../../harness/end-with-us.ts';

/** A well-formed key, known only to tests. */
const key = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

const policy = `
name: house
default: allow
rules:
  - { name: denied, effect: deny, commands: ["touch denied**"] }
  - { name: held, effect: require_approval, commands: ["touch held**"] }
  - { name: addresses, on: result, effect: mask, commands: ["printf **"], mask: { detect: [email] } }
`;

/** A gateway for the agents of this suite. */
export class HookGateway implements AsyncDisposable {
  readonly http: string;
  readonly grpc: string;
  readonly #end: () => Promise<void>;

  private constructor(http: string, grpc: string, end: () => Promise<void>) {
    this.http = http;
    this.grpc = grpc;
    this.#end = end;
  }

  /** `subjects` is the file of issuers whose tokens say for whom an agent acts. */
  static async start(
    policies: Readonly<Record<string, string>> = { 'house.yaml': policy },
    subjects = '[]',
  ): Promise<HookGateway> {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-hooks-'));
    mkdirSync(join(folder, 'policies'));
    for (const [name, text] of Object.entries(policies)) writeFileSync(join(folder, 'policies', name), text);
    writeFileSync(join(folder, 'subjects.yaml'), subjects);
    const args = ['serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', folder];
    args.push('--subjects', join(folder, 'subjects.yaml'));
    const child = spawn(resolve('node_modules/.bin/reeve'), args, {
      env: { ...process.env, SVC_BOOTSTRAP_API_KEY: key },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    endWithUs(child);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { http, grpc } = JSON.parse(String(line)) as { http: string; grpc: string };
    return new HookGateway(http, grpc, async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** What the machine of the agent has in its environment. */
  env(agent: string): Record<string, string> {
    return { REEVE_GRPC_ADDR: this.grpc, REEVE_API_KEY: key, REEVE_AGENT: `acme/core/${agent}` };
  }

  /** Approves the first thing that somebody is asked about. */
  async approve(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const { items } = await this.send<{ items: { id: string }[] }>('GET', '/api/v1/approvals?state=open');
      if (items[0] !== undefined) return void (await this.send('POST', `/api/v1/approvals/${items[0].id}/approve`));
      await sleep(200);
    }
  }

  /** Ids of operations that are not over. */
  async open(): Promise<readonly string[]> {
    const { items } = await this.send<{ items: { op_id: string; state: string }[] }>(
      'GET',
      '/api/v1/ops?per_page=1000',
    );
    return items.filter(({ state }) => ['pending', 'running', 'paused'].includes(state)).map(({ op_id }) => op_id);
  }

  /** Calls the API as an administrator. */
  async send<Body>(method: string, path: string): Promise<Body> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${this.http}${path}`, {
      method,
      headers,
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
