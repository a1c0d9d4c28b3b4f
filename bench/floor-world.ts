import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from '../tests/harness/end-with-us.ts';
import { trackFolder } from './children.ts';
import { installedCommand } from './command.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { startGateway } from './gateway-process.ts';
import { bootstrapKey } from './load-protocol.ts';

const policy = `
name: floor
rules:
  - { name: programs, effect: allow, actions: [process_exec], commands: ["**"] }
  - { name: this-machine, effect: allow, hosts: ["127.0.0.1"] }
`;

interface Op {
  readonly op_id: string;
  readonly state: string;
  readonly action_type: string;
}

/** A gateway, and a project to run programs in, on a floor and without one. */
export class FloorWorld {
  readonly #gateway: GatewayProcess;
  readonly #home: string;
  readonly #removeHome: () => void;

  private constructor(gateway: GatewayProcess) {
    this.#gateway = gateway;
    this.#home = mkdtempSync(join(tmpdir(), 'reeve-bench-floor-'));
    this.#removeHome = trackFolder(this.#home);
    mkdirSync(join(this.#home, 'project'));
  }

  static async start(): Promise<FloorWorld> {
    return new FloorWorld(await startGateway({ core: undefined, policies: { 'floor.yaml': policy } }));
  }

  /** Starts a program as it is, or by `reeve run` as people install it. Programs of this checkout can be read inside. */
  begin(command: readonly string[], flags?: readonly string[]): ChildProcess {
    const reeve = installedCommand();
    const run = [reeve, 'run', '--read', resolve('.'), '--read', dirname(dirname(reeve))];
    const words = flags === undefined ? command : [...run, ...flags, '--', ...command];
    const [program = '', ...rest] = words;
    const env = {
      PATH: process.env['PATH'],
      HOME: this.#home,
      REEVE_GRPC_ADDR: this.#gateway.grpc,
      REEVE_API_KEY: bootstrapKey,
      REEVE_AGENT: 'acme/core/bench',
    };
    const cwd = join(this.#home, 'project');
    const child = spawn(program, rest, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    endWithUs(child);
    return child;
  }

  /** Controls the program that runs. Resolves to the milliseconds until its receipt says that the control is effective. */
  async control(
    action: 'pause' | 'resume' | 'terminate',
  ): Promise<{ readonly tookMs: number; readonly processes: number }> {
    const { items } = await this.#call<{ items: Op[] }>('GET', '/api/v1/ops?per_page=100');
    const op = items.find(
      ({ action_type: type, state }) => type === 'process_exec' && ['running', 'paused'].includes(state),
    );
    if (op === undefined) throw new Error('no program runs');
    const began = performance.now();
    const { control } = await this.#call<{ control: { id: string } }>(
      'POST',
      `/api/v1/ops/${encodeURIComponent(op.op_id)}/${action}`,
    );
    for (;;) {
      const told = await this.#call<{ status: string; evidence: string; processes: number }>(
        'GET',
        `/api/v1/control/${control.id}`,
      );
      const { status, evidence, processes } = told;
      if (status === 'effective' && evidence === 'kernel') return { tookMs: performance.now() - began, processes };
      if (!['requested', 'delivered', 'acked'].includes(status)) throw new Error(`${action}: ${JSON.stringify(told)}`);
      await sleep(5);
    }
  }

  async #call<Body>(method: string, path: string): Promise<Body> {
    const headers = { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' };
    const body = method === 'POST' ? { body: '{"reason":"bench"}' } : {};
    const response = await fetch(`${this.#gateway.http}${path}`, { method, headers, ...body });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  }

  async stop(): Promise<void> {
    await this.#gateway.stop();
    this.#removeHome();
  }
}
