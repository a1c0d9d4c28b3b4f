import { connect } from '@reeve/sdk';
import { serveMcp, SessionSeal } from '@reeve/proxy/mcp';
import { grpcGateway } from '../agent-identity/grpc-gateway.ts';
import { gatewayOptions } from '../agent-identity/identity-options.ts';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { number, text, texts } from '../command-line/values.ts';
import { codeOf } from '../context/private-file.ts';
import { governing, governOptions } from '../mcp/govern-options.ts';
import { listenAddress } from '../command-line/listen-address.ts';
import { keysIn, readKeyFile } from '../mcp/key-file.ts';
import { followLock } from '../mcp/lock-file.ts';
import { ServedAgents } from '../mcp/served-agents.ts';
import { tokensFor } from '../mcp/server-access.ts';
import { serversFileAt } from '../mcp/servers.ts';
import { stopSignal } from '../mcp/stop-signal.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

export const mcpServeCommand = defineCommand({
  details: [
    'Serves each server of the file at /mcp/NAME. Clients send the token of their agent as "Authorization: Bearer"; the servers never see it. If FILE.lock exists, tools that are not defined as there are denied.',
    'The file: servers: {NAME: {command, args, env, cwd} or {url, headers}, each with costs: {GLOB: USD}}. Values may use ${VARIABLE}.',
    'With govern: LIST in the file, at its top or for one server, other requests than calls of tools are checked too: all, or of resources/read, resources/subscribe, prompts/get, sampling/createMessage and elicitation/create. With run: fixed the header x-reeve-run-id does not count: the run is the session.',
    'With oauth: {issuer, audience, jwks_uri, scopes, agents: [{match: {CLAIM: GLOB}, agent: ORG/TEAM/AGENT}]} in the file, people come with access tokens of the issuer and act as the agent of the first entry that matches. With auth: {type: client_credentials, token_exchange, enterprise or person}, a server with a url gets access tokens of its own.',
    'With --session-key-file, any request of a session may reach any replica. Each replica starts servers with a command for itself, so what such a server keeps in memory stays with one replica. People who act as an agent may come to any of them, too: its token is made of the key.',
  ],
  args: {},
  options: {
    config: text('FILE', 'The file with the servers.', { completes: 'file' }),
    http: text('HOST:PORT', 'Where to listen. Default: 127.0.0.1:8091. Port 0 picks a free one.'),
    allowOrigin: texts('ORIGIN', 'Pages that may call, such as https://app.example.com.'),
    allowHost: texts('NAME', 'Another name that clients reach this by. "*" is any.'),
    publicUrl: text('URL', 'How clients reach this, such as https://mcp.example.com. Tokens of OAuth are for it.'),
    sessionKeyFile: text(
      'FILE',
      'A key that replicas share, so that each of them goes on with the sessions of the others: 32 random bytes in base64url. Also: REEVE_MCP_SESSION_KEY_FILE.',
      { completes: 'file' },
    ),
    idleMinutes: number('MINUTES', 'After how long an unused session ends. Default 30.', { min: 1, max: 10_080 }),
    ...gatewayOptions,
    ...governOptions,
  },
  examples: [['reeve mcp serve --config mcp.yaml --http 127.0.0.1:8091', 'at http://127.0.0.1:8091/mcp/NAME']],
  run: async ({ options, globals }, shell) => {
    const { config, http = '127.0.0.1:8091', allowOrigin, idleMinutes = 30 } = options;
    if (config === undefined) throw new UsageError('--config FILE is missing');
    const { host, port } = listenAddress(http, '--http');
    const gateway = grpcGateway(shell, options);
    const { servers, oauth } = await serversFileAt(shell, config);
    const publicUrl = publicUrlOf(options.publicUrl);
    if (oauth !== undefined && publicUrl === undefined && isUnspecified(host)) {
      throw new UsageError(`--public-url is missing: tokens are issued for it, and ${host} is no address of a client`);
    }
    const how = governing(shell, options);
    const keys = sessionKeys(shell, options.sessionKeyFile);
    const lock = await followLock(`${config}.lock`, how.warn);
    using stop = stopSignal();
    using reeve = connect(gateway);
    const idleMs = idleMinutes * 60_000;
    const serving = await serveMcp({
      ...how,
      ...{ reeve, servers, lock, host, port, idleMs, oauth, publicUrl },
      tokensOf: tokensFor(shell, servers),
      seal: keys === undefined ? undefined : new SessionSeal(keys),
      agentTokens: new ServedAgents({ shell, globals, about: { framework: 'mcp' } }, gateway, how.warn, keys),
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

/** What seals sessions into their ids, if replicas share them. */
function sessionKeys(shell: Pick<Shell, 'env'>, flag: string | undefined): readonly Buffer[] | undefined {
  const what = flag === undefined ? 'REEVE_MCP_SESSION_KEY_FILE' : '--session-key-file';
  const path = flag ?? variable(shell, 'REEVE_MCP_SESSION_KEY_FILE');
  return path === undefined ? undefined : keysIn(readKeyFile(path, what, 'group'), path);
}

/** How clients reach the proxy: an origin. Its paths are those of the proxy. */
function publicUrlOf(given: string | undefined): URL | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (isOrigin) return url;
  throw new UsageError('--public-url must be an address without a path, such as https://mcp.example.com');
}

function isUnspecified(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::';
}
