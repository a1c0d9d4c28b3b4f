import { isLoopback } from '@reeve/contract/host-name';
import { serveModels } from '@reeve/proxy/llm';
import { grpcGateway } from '../agent-identity/grpc-gateway.ts';
import { gatewayOptions } from '../agent-identity/identity-options.ts';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { listenAddress } from '../command-line/listen-address.ts';
import { flag, number, text, texts } from '../command-line/values.ts';
import { readModelConfig } from '../llm/read-model-config.ts';
import { cleanText } from '../output/clean-text.ts';
import { note } from '../output/print.ts';
import type { Shell } from '../shell.ts';

const drainMs = 10_000;
const megabyte = 1024 * 1024;

export const llmServeCommand = defineCommand({
  details: [
    'Speaks the protocols of OpenAI and Anthropic in front of their own servers. Agents use it by another base URL, with their agent token as the API key. Every call is checked, held for approval if a policy says so, paid from the budgets, and can be stopped in the middle.',
    'FILE: upstreams: [{name, kind: openai|anthropic, base_url, api_key_env, models: [glob], max_output_tokens?}], run?: fixed. The first upstream whose glob matches serves the model. Keys of providers come from the environment variables that the file names.',
  ],
  args: {},
  options: {
    config: text('FILE', 'YAML file with the upstreams.', { completes: 'file' }),
    http: text('ADDRESS', 'Where to listen. Default: 127.0.0.1:8090; port 0 picks a free one.'),
    ...gatewayOptions,
    approvalWait: number('SECONDS', 'How long a held call waits. Default: 50.', { min: 0, max: 3600 }),
    upstreamTimeout: number('SECONDS', 'How long an upstream may say nothing. Default: 600.', { min: 1, max: 86_400 }),
    maxCalls: number('N', 'Calls of one agent at once. Default: 256.', { min: 1, max: 100_000 }),
    maxBody: number('MB', 'The largest request. Default: 32.', { min: 1, max: 256 }),
    allowHost: texts('NAME', 'Another name that clients reach this by. "*" is any.'),
    failOpen: flag('Let calls happen unchecked while no gateway answers. Says so on stderr each time.'),
  },
  examples: [
    ['reeve llm serve --config models.yaml', 'then OPENAI_BASE_URL=http://127.0.0.1:8090/v1'],
    ['reeve llm serve --config models.yaml --http 127.0.0.1:0', 'on a free port'],
  ],
  run: async ({ options }, shell) => {
    const { config, http = '127.0.0.1:8090', approvalWait = 50, upstreamTimeout = 600, maxCalls = 256 } = options;
    if (config === undefined) throw new UsageError('--config is missing');
    const { host, port } = listenAddress(http, '--http');
    const upstreams = await readModelConfig(config, shell);
    const stopped = stopRequested();
    const tell = (line: string) => note(shell, `reeve llm: ${cleanText(line)}`);
    const proxy = await serveModels({
      upstreams,
      host,
      port,
      gateway: grpcGateway(shell, options),
      approvalWaitMs: approvalWait * 1000,
      upstreamTimeoutMs: upstreamTimeout * 1000,
      callsPerAgent: maxCalls,
      mostBodyBytes: (options.maxBody ?? 32) * megabyte,
      allowedHosts: options.allowHost,
      failOpen: options.failOpen,
      tell,
    }).catch((error: unknown) => {
      throw new CliError(`cannot listen on ${http}: ${error instanceof Error ? error.message : String(error)}`);
    });
    announce(shell, proxy.http);
    if (!isLoopback(host))
      tell('tokens and prompts come in plain text: put TLS in front of an address that others reach');
    await stopped;
    await proxy.close(drainMs);
    return 0;
  },
});

/** One line of JSON for programs, or a few words for people. */
function announce(shell: Shell, http: string): void {
  const line = JSON.stringify({ event: 'listening', http });
  shell.stdout.write(
    shell.stdout.isTTY ? `\n  Models are served at ${http}\n\n  Stop it with Ctrl-C.\n\n` : `${line}\n`,
  );
}

/** A second signal ends the process at once. */
function stopRequested(): Promise<void> {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  return new Promise((resolve) => {
    const stop = () => {
      for (const each of signals) process.off(each, stop);
      resolve();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
