import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { RunningCli } from './cli.ts';
import { TestHome } from './cli.ts';
import { endWithUs } from './end-with-us.ts';

/** What only the proxy may know. Tests look for it everywhere else. */
export const providerKey = 'sk-provider-0123456789abcdefghij';

export interface ProxyOptions {
  readonly grpc: string;
  /** The address of the upstream for both protocols. */
  readonly upstream: string;
  readonly args?: readonly string[];
  readonly upstreams?: readonly Readonly<Record<string, unknown>>[];
  /** What the file says besides. */
  readonly file?: object;
}

/** A real `reeve llm serve` in its own process. */
export class TestModelProxy {
  readonly url: string;
  readonly cli: RunningCli;
  readonly #home: TestHome;

  private constructor(url: string, cli: RunningCli, home: TestHome) {
    this.url = url;
    this.cli = cli;
    this.#home = home;
  }

  static async start({ grpc, upstream, args = [], upstreams, file: more = {} }: ProxyOptions): Promise<TestModelProxy> {
    const home = new TestHome();
    const file = join(home.path, 'models.yaml');
    writeFileSync(file, stringify({ upstreams: upstreams ?? usualUpstreams(upstream), ...more }));
    const env = { PROVIDER_KEY: providerKey, REEVE_GRPC_ADDR: grpc };
    const cli = home.start(['llm', 'serve', '--config', file, '--http', '127.0.0.1:0', ...args], { env });
    endWithUs(cli.child);
    const ended = once(cli.child, 'close').then(() => {
      throw new Error(`the proxy did not start: ${cli.stderr}`);
    });
    await Promise.race([cli.says(/\n/), ended]);
    const { http } = JSON.parse(cli.stdout) as { http: string };
    return new TestModelProxy(http, cli, home);
  }

  /** Everything that the proxy has printed. */
  get output(): string {
    return this.cli.stdout + this.cli.stderr;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.cli.child.kill(signal);
    await this.cli.ended();
    return this.cli.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cli[Symbol.asyncDispose]();
    this.#home[Symbol.dispose]();
  }
}

function usualUpstreams(url: string): readonly Readonly<Record<string, unknown>>[] {
  const upstream = { base_url: url, api_key_env: 'PROVIDER_KEY', max_output_tokens: 1000 };
  return [
    { ...upstream, name: 'openai-main', kind: 'openai', models: ['gpt-*', 'text-embedding-*'] },
    { ...upstream, name: 'anthropic-main', kind: 'anthropic', models: ['claude-*'] },
  ];
}
