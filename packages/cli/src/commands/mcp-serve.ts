import { connect } from '@reeve/sdk';
import { serveMcp } from '@reeve/proxy/mcp';
import { grpcGateway } from '../agent-identity/grpc-gateway.ts';
import { gatewayOptions } from '../agent-identity/identity-options.ts';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { number, text, texts } from '../command-line/values.ts';
import { codeOf } from '../context/private-file.ts';
import { governing, governOptions } from '../mcp/govern-options.ts';
import { listenAddress } from '../command-line/listen-address.ts';
import { followLock } from '../mcp/lock-file.ts';
import { serversOf } from '../mcp/servers.ts';
import { stopSignal } from '../mcp/stop-signal.ts';

export const mcpServeCommand = defineCommand({
  details: [
    'Serves each server of the file at /mcp/NAME. Clients send the token of their agent as "Authorization: Bearer"; the servers never see it. If FILE.lock exists, tools that are not defined as there are denied.',
    'The file: servers: {NAME: {command, args, env, cwd} or {url, headers}, each with costs: {GLOB: USD}}. Values may use ${VARIABLE}.',
  ],
  args: {},
  options: {
    config: text('FILE', 'The file with the servers.', { completes: 'file' }),
    http: text('HOST:PORT', 'Where to listen. Default: 127.0.0.1:8091. Port 0 picks a free one.'),
    allowOrigin: texts('ORIGIN', 'Pages that may call, such as https://app.example.com.'),
    allowHost: texts('NAME', 'Another name that clients reach this by. "*" is any.'),
    idleMinutes: number('MINUTES', 'After how long an unused session ends. Default 30.', { min: 1, max: 10_080 }),
    ...gatewayOptions,
    ...governOptions,
  },
  examples: [['reeve mcp serve --config mcp.yaml --http 127.0.0.1:8091', 'at http://127.0.0.1:8091/mcp/NAME']],
  run: async ({ options }, shell) => {
    const { config, http = '127.0.0.1:8091', allowOrigin, idleMinutes = 30 } = options;
    if (config === undefined) throw new UsageError('--config FILE is missing');
    const { host, port } = listenAddress(http, '--http');
    const gateway = grpcGateway(shell, options);
    const servers = await serversOf(shell, config);
    const how = governing(shell, options);
    const lock = await followLock(`${config}.lock`, how.warn);
    using stop = stopSignal();
    using reeve = connect(gateway);
    const idleMs = idleMinutes * 60_000;
    const serving = await serveMcp({
      ...how,
      ...{ reeve, servers, lock, host, port, idleMs },
      allowedOrigins: allowOrigin,
      allowedHosts: options.allowHost,
    }).catch((error: unknown) => {
      throw new CliError(`cannot listen on ${http}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
    });
    const said = shell.stdout.isTTY
      ? [...servers.keys()].map((name) => `${serving.url}/mcp/${name}`).join('\n')
      : JSON.stringify({ event: 'listening', http: serving.url });
    shell.stdout.write(`${said}\n`);
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
    await serving.close();
    return 0;
  },
});
