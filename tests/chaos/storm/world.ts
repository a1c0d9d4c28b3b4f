import { setTimeout as sleep } from 'node:timers/promises';
import { TestGateway } from '../../harness/gateway.ts';

const env = {
  SVC_RATE_LIMIT_API_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  // Nothing is swept, so that whole lists and histories can be compared.
  SVC_OPS_TTL_SECS: '3600',
  SVC_OPS_SWEEP_TICK_SECS: '1',
  SVC_CONTROL_ACK_SECS: '3',
  SVC_OPS_STALE_SECS: '3',
};

const policies = { 'storm.yaml': 'name: storm\ndefault: allow\n' };

/** A gateway that is killed now and then, and returns on the same folder and ports. */
export class World {
  gateway: TestGateway;
  /** How often it has been killed. */
  run = 0;
  /** The sequence of the last audit entry of each killed run. */
  readonly ends: number[] = [];

  private constructor(gateway: TestGateway) {
    this.gateway = gateway;
  }

  static async start(): Promise<World> {
    return new World(await TestGateway.start({ policies, env }));
  }

  async killAndRestart(): Promise<void> {
    const { folder, http, grpc } = this.gateway;
    await this.gateway.kill('SIGKILL');
    this.run++;
    this.ends.push(this.gateway.audit().at(-1)?.seq ?? 0);
    // Long enough for everybody to notice.
    await sleep(between(200, 600));
    const args = ['--http', new URL(http).host, '--grpc', grpc];
    this.gateway = await TestGateway.start({ folder, env, args });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
  }
}

export function between(low: number, high: number): number {
  return low + Math.random() * (high - low);
}

export function oneOf<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
