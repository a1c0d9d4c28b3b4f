// A client for the suite, by Reeve: `reeve mcp login` where a person has to, then `reeve mcp run` in front of the suite's
// server. The suite appends the address of its server, and says what else is to be known in its environment.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const url = process.argv.at(-1) ?? '';
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const reeve = JSON.parse(process.env.REEVE_SUITE_COMMAND ?? '[]');
const isStateless = revision >= '2026-07-28';
/** Clients give up after some attempts to get what a server wants. */
const mostLogins = 3;

const home = mkdtempSync(join(tmpdir(), 'reeve-suite-'));
const config = join(home, 'mcp.yaml');
const env = { ...process.env, HOME: home, SUITE_SECRET: context.client_secret ?? '' };
const client = { client_id: context.client_id, client_secret_env: 'SUITE_SECRET' };

/** The document of an authorization server of the suite, for what an operator would copy into the file. */
async function tokenUrl() {
  const answer = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
  const [issuer] = (await answer.json()).authorization_servers;
  const document = await (await fetch(new URL('/.well-known/oauth-authorization-server', issuer))).json();
  return { issuer, url: document.token_endpoint };
}

async function auth() {
  if (scenario === 'auth/client-credentials-basic') {
    return { type: 'client_credentials', token_url: (await tokenUrl()).url, ...client };
  }
  if (scenario === 'auth/enterprise-managed-authorization') {
    const server = await tokenUrl();
    env.REEVE_ID_TOKEN_FILE = join(home, 'id-token');
    writeFileSync(env.REEVE_ID_TOKEN_FILE, context.idp_id_token);
    const places = { idp_token_url: context.idp_token_endpoint, token_url: server.url };
    return { type: 'enterprise', ...places, ...client, audience: server.issuer, resource: url };
  }
  if (scenario === 'auth/basic-cimd') {
    return { type: 'person', client_id: 'https://conformance-test.local/client-metadata.json' };
  }
  return { type: 'person', ...(context.client_id === undefined ? {} : client) };
}

function start(args) {
  const [program, ...before] = reeve;
  return spawn(program, [...before, ...args], { env, stdio: 'pipe' });
}

/** What a person does: opens the address, and lets the command in. The suite's servers ask nothing. */
async function login() {
  const child = start(['mcp', 'login', 'suite', '--config', config]);
  let said = '';
  let visited = false;
  child.stderr.on('data', (chunk) => {
    said += chunk;
    const shown = /\n {2}(https?:\/\/\S+)\n/.exec(said)?.[1];
    if (shown === undefined || visited) return;
    visited = true;
    void fetch(shown).catch(() => {});
  });
  const code = await new Promise((done) => child.once('close', done));
  if (code !== 0) throw new Error(said);
}

/** A client on standard input and output. */
function connect() {
  const child = start(['mcp', 'run', '--server', 'suite', '--config', config]);
  child.stderr.pipe(process.stderr);
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let last = 0;
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'suite', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const write = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    tell: (method) => write({ method }),
    ask: (method, params = {}) => {
      const id = ++last;
      write({ id, method, params: isStateless ? { ...params, _meta: meta } : params });
      return new Promise((done) => waiting.set(id, done));
    },
    end: async () => {
      const closed = new Promise((done) => child.once('close', done));
      child.stdin.end();
      await closed;
    },
  };
}

/** Asks, and logs in anew where the answer tells a person to. */
async function ask(connection, logins, method, params) {
  for (;;) {
    const answer = await connection.ask(method, params);
    const text = JSON.stringify(answer);
    if (!text.includes('reeve mcp login')) {
      if (answer.error !== undefined) throw new Error(text);
      return answer.result;
    }
    if (logins.count >= mostLogins) throw new Error(`logged in ${logins.count} times: ${text}`);
    logins.count += 1;
    await login();
  }
}

let connection;
try {
  const given = await auth();
  writeFileSync(config, JSON.stringify({ servers: { suite: { url, auth: given } } }));
  const logins = { count: 0 };
  connection = connect();
  if (!isStateless) {
    const clientInfo = { name: 'suite', version: '1' };
    await ask(connection, logins, 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo });
    connection.tell('notifications/initialized');
  }
  const { tools = [] } = await ask(connection, logins, 'tools/list');
  for (const { name } of tools.slice(0, 1)) await ask(connection, logins, 'tools/call', { name, arguments: {} });
  // A server may want another token the next time.
  if (scenario === 'auth/authorization-server-migration') await ask(connection, logins, 'tools/list');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await connection?.end();
  rmSync(home, { recursive: true, force: true });
}
