import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endWithUs } from '../../harness/end-with-us.ts';
import { eventually } from '../../harness/eventually.ts';
import { freePort } from '../../harness/postgres.ts';

const run = promisify(execFile);
const node = 'spiffe://example.org/node';

/** SPIRE on loopback: a server of the trust domain example.org, and an agent that attests processes of this user. */
export class Spire implements AsyncDisposable {
  readonly #programs: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'reeve-spire-'));
  readonly #children: ChildProcess[] = [];

  private constructor(programs: string) {
    this.#programs = programs;
  }

  /** `issuer` is the `iss` of its JWTs. */
  static async start(programs: string, issuer: string): Promise<Spire> {
    const spire = new Spire(programs);
    try {
      const port = await freePort();
      await spire.#startServer(port, issuer);
      await spire.#startAgent(port);
      return spire;
    } catch (error) {
      await spire[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #startServer(port: number, issuer: string): Promise<void> {
    mkdirSync(join(this.#folder, 'server'));
    const config = join(this.#folder, 'server.conf');
    writeFileSync(
      config,
      `server {
  bind_address = "127.0.0.1"
  bind_port = "${port}"
  socket_path = "${this.#serverSocket}"
  trust_domain = "example.org"
  data_dir = "${this.#folder}/server"
  jwt_issuer = "${issuer}"
  log_level = "WARN"
}
plugins {
  DataStore "sql" { plugin_data { database_type = "sqlite3" connection_string = "${this.#folder}/server/db" } }
  KeyManager "memory" { plugin_data {} }
  NodeAttestor "join_token" { plugin_data {} }
}
`,
    );
    this.#spawn('spire-server', ['run', '-config', config]);
    await eventually(() => this.#server('healthcheck'), 400);
  }

  async #startAgent(port: number): Promise<void> {
    mkdirSync(join(this.#folder, 'agent'));
    const token = /Token: (\S+)/.exec(await this.#server('token', 'generate', '-spiffeID', node))?.[1];
    if (token === undefined) throw new Error('the server gave no join token');
    const config = join(this.#folder, 'agent.conf');
    writeFileSync(
      config,
      `agent {
  server_address = "127.0.0.1"
  server_port = "${port}"
  socket_path = "${this.#agentSocket}"
  trust_domain = "example.org"
  data_dir = "${this.#folder}/agent"
  insecure_bootstrap = true
  join_token = "${token}"
  log_level = "WARN"
}
plugins {
  KeyManager "memory" { plugin_data {} }
  NodeAttestor "join_token" { plugin_data {} }
  WorkloadAttestor "unix" { plugin_data {} }
}
`,
    );
    this.#spawn('spire-agent', ['run', '-config', config]);
    await eventually(() => this.#agent('healthcheck'), 400);
  }

  /** From now on, processes of this user are this workload. */
  async register(spiffeId: string): Promise<void> {
    const who = ['-parentID', node, '-spiffeID', spiffeId, '-selector', `unix:uid:${userInfo().uid}`];
    await this.#server('entry', 'create', ...who);
  }

  /** A JWT-SVID, as a workload gets it. */
  async fetchJwt(audience: string): Promise<string> {
    return eventually(async () => {
      const shown = await this.#agent('api', 'fetch', 'jwt', '-audience', audience);
      const token = /\b(eyJ\S+)/.exec(shown)?.[1];
      if (token === undefined) throw new Error('the agent gave no JWT-SVID');
      return token;
    }, 400);
  }

  /** The keys of the trust domain. */
  bundle(): Promise<string> {
    return this.#server('bundle', 'show', '-format', 'spiffe');
  }

  get #serverSocket(): string {
    return `${this.#folder}/server.sock`;
  }

  get #agentSocket(): string {
    return `${this.#folder}/agent.sock`;
  }

  async #server(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(join(this.#programs, 'spire-server'), [...args, '-socketPath', this.#serverSocket]);
    return stdout;
  }

  async #agent(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(join(this.#programs, 'spire-agent'), [...args, '-socketPath', this.#agentSocket]);
    return stdout;
  }

  #spawn(program: string, args: readonly string[]): void {
    const child = spawn(join(this.#programs, program), args, { stdio: 'ignore' });
    endWithUs(child);
    this.#children.push(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
