import { TestNats } from '../../harness/nats.ts';
import type { TestDatabase } from '../../harness/postgres.ts';
import { TestPostgres } from '../../harness/postgres.ts';
import { ClusterNode } from './node.ts';

export interface ClusterOptions {
  readonly size: number;
  readonly policies: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** For many calls in a short time from one address, and so that nothing is forgotten before it was compared. */
const forStorms = {
  SVC_RATE_LIMIT_API_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_OPS_TTL_SECS: '3600',
  SVC_APPROVAL_TTL_SECS: '3600',
  SVC_OPS_SWEEP_TICK_SECS: '1',
  SVC_CONTROL_ACK_SECS: '2',
  SVC_TAKEOVER_SECS: '3',
};

/** Several gateways on servers of their own, which can be restarted, and every link can be cut. */
export class Cluster {
  readonly postgres: TestPostgres;
  readonly nats: TestNats;
  readonly database: TestDatabase;
  readonly nodes: readonly ClusterNode[];
  readonly #stack: AsyncDisposableStack;

  private constructor(
    servers: { readonly postgres: TestPostgres; readonly nats: TestNats; readonly database: TestDatabase },
    nodes: readonly ClusterNode[],
    stack: AsyncDisposableStack,
  ) {
    this.postgres = servers.postgres;
    this.nats = servers.nats;
    this.database = servers.database;
    this.nodes = nodes;
    this.#stack = stack;
  }

  static async start({ size, policies, env = {} }: ClusterOptions): Promise<Cluster> {
    await using stack = new AsyncDisposableStack();
    const postgres = stack.use(await TestPostgres.start());
    const nats = stack.use(await TestNats.start());
    const database = await postgres.createDatabase();
    const options = { postgresUrl: database.url, natsUrl: nats.url(), policies, env: { ...forStorms, ...env } };
    const names = Array.from({ length: size }, (_, nth) => `gateway ${nth + 1}`);
    const started = await Promise.allSettled(names.map((name) => ClusterNode.start(name, options)));
    const nodes = started.flatMap((each) => (each.status === 'fulfilled' ? [stack.use(each.value)] : []));
    const failed = started.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return new Cluster({ postgres, nats, database }, nodes, stack.move());
  }

  /** Everything that the gateways logged and nobody should ever see. */
  get surprises(): string[] {
    const unforeseen = this.nodes.flatMap(({ name, log }) =>
      log
        .split('\n')
        .filter((line) => line.includes('failed unexpectedly'))
        .map((line) => `${name}: ${line}`),
    );
    // A gateway may give up for one reason, which only a long silence brings about. Anything else is a crash.
    const crashes = this.nodes.flatMap(({ ends }) => ends.filter((end) => !end.includes('that was taken for lost')));
    return [...unforeseen, ...crashes];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
