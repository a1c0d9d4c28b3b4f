import { setTimeout as sleep } from 'node:timers/promises';
import { TestGateway } from '../../harness/gateway.ts';
import { NetworkLink } from '../../harness/network-link.ts';

/** How a gateway is started, apart from its links. */
export interface NodeOptions {
  readonly postgresUrl: string;
  readonly natsUrl: string;
  readonly policies: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

/** One gateway of a cluster. It reaches PostgreSQL and NATS by links of its own, and keeps its ports over restarts. */
export class ClusterNode {
  readonly name: string;
  readonly toPostgres: NetworkLink;
  readonly toNats: NetworkLink;
  /** Why it ended by itself, whenever it did. */
  readonly ends: string[] = [];
  readonly #options: NodeOptions;
  readonly #logs: (() => { stderr: string })[] = [];
  #gateway: TestGateway | undefined;
  #isWanted = true;
  /** How many troubles keep it from the database now, and when the last one was over. */
  #troubles = 0;
  #backAt = Number.NEGATIVE_INFINITY;

  private constructor(name: string, options: NodeOptions, toPostgres: NetworkLink, toNats: NetworkLink) {
    this.name = name;
    this.#options = options;
    this.toPostgres = toPostgres;
    this.toNats = toNats;
  }

  static async start(name: string, options: NodeOptions): Promise<ClusterNode> {
    const toPostgres = await NetworkLink.to({ http: options.postgresUrl.replace('postgres:', 'http:') });
    const toNats = await NetworkLink.to({ http: options.natsUrl.replace('nats:', 'http:') });
    const node = new ClusterNode(name, options, toPostgres, toNats);
    await node.#start();
    return node;
  }

  get gateway(): TestGateway {
    if (this.#gateway === undefined) throw new Error(`${this.name} was never started`);
    return this.#gateway;
  }

  get http(): string {
    return this.gateway.http;
  }

  /** Everything that all its runs have logged. */
  get log(): string {
    return this.#logs.map((output) => output().stderr).join('');
  }

  /** Ends the process without a word, and starts it again after a while. */
  async killFor(ms: number): Promise<void> {
    this.#isWanted = false;
    await this.gateway.kill('SIGKILL');
    await sleep(ms);
    this.#isWanted = true;
    await this.#restart();
  }

  /** Stops the process in the middle of whatever it does, and lets it go on after a while. */
  async freezeFor(ms: number): Promise<void> {
    const { child } = this.gateway;
    child.kill('SIGSTOP');
    await sleep(ms);
    child.kill('SIGCONT');
  }

  /** Notes that the database is out of reach while something happens. */
  async withoutDatabase(happening: () => Promise<void>): Promise<void> {
    this.#troubles++;
    await happening();
    this.#troubles--;
    this.#backAt = performance.now();
  }

  get isApart(): boolean {
    return this.#troubles > 0;
  }

  /**
   * Whether an answer to what was asked at that moment must rest on the database. A gateway that waits for it for two
   * seconds, or has just lost it, answers by what it knows.
   */
  couldAskSince(moment: number): boolean {
    const isQuick = performance.now() - moment < 1500;
    return isQuick && this.#troubles === 0 && moment - this.#backAt > 5000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isWanted = false;
    this.gateway.child.kill('SIGCONT');
    await this.gateway[Symbol.asyncDispose]();
    await this.toPostgres[Symbol.asyncDispose]();
    await this.toNats[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    const { postgresUrl, natsUrl, policies, env } = this.#options;
    const database = new URL(postgresUrl);
    database.port = String(this.toPostgres.port);
    const nats = new URL(natsUrl);
    nats.port = String(this.toNats.port);
    const before = this.#gateway;
    const again =
      before === undefined
        ? {}
        : { folder: before.folder, args: ['--http', new URL(before.http).host, '--grpc', before.grpc] };
    const gateway = await TestGateway.start({
      ...again,
      policies,
      database: { url: database.href },
      env: { ...env, SVC_NATS_URL: nats.href },
    });
    this.#gateway = gateway;
    this.#logs.push(gateway.output);
    // A gateway may end itself, as when it was away for too long. Whoever runs it starts it again.
    gateway.child.once('close', (code) => {
      if (!this.#isWanted) return;
      this.ends.push(`${this.name} ended itself with ${code}: ${gateway.output().stderr.slice(-1500)}`);
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    while (this.#isWanted) {
      try {
        await this.#start();
        return;
      } catch {
        // PostgreSQL may be out of reach.
        await sleep(200);
      }
    }
  }
}
