import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trackFolder } from '../children.ts';
import { framedMessage } from '../http2-frames.ts';
import type { RawRequest } from '../load-protocol.ts';
import type { ServerProcess } from '../server-process.ts';
import { startOnFreePort } from './free-port-server.ts';

/** The rule that all decide by: a search is allowed as long as it asks for no more than a hundred results. */
export const reevePolicy = `
name: base
default: deny
rules:
  - name: small-searches
    effect: allow
    tools: ["search.*"]
    when: args.limit <= 100
`;

const regoPolicy = `package reeve

default allow := false

allow if {
	startswith(input.tool, "search.")
	input.args.limit <= 100
}
`;

const cerbosPolicy = `
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: tool
  version: default
  rules:
    - actions: ["search.web"]
      effect: EFFECT_ALLOW
      roles: ["agent"]
      condition:
        match:
          expr: request.resource.attr.limit <= 100
`;

interface Running {
  readonly server: ServerProcess;
  readonly request: RawRequest;
}

/** OPA over cleartext HTTP/2, so that calls share connections as those of gRPC do. */
export async function startOpa(core: number | undefined, program: string): Promise<Running> {
  const folder = folderWith('policy.rego', regoPolicy);
  const input = { tool: 'search.web', agent: 'org-1/team-1/agent-1', trace: 'f'.repeat(32), args: { limit: 20 } };
  const server = await startOnFreePort(core, (port) => [
    ...[program, 'run', '--server', '--h2c', '--disable-telemetry', '--log-level', 'error'],
    ...['--addr', `127.0.0.1:${port}`, join(folder.path, 'policy.rego')],
  ]);
  const request: RawRequest = {
    path: '/v1/data/reeve/allow',
    contentType: 'application/json',
    content: { base64: Buffer.from(JSON.stringify({ input })).toString('base64') },
    answer: { hex: Buffer.from('{"result":true').toString('hex'), at: 0 },
  };
  return { server: withFolder(server, folder.remove), request };
}

/** Cerbos over gRPC. */
export async function startCerbos(core: number | undefined, program: string): Promise<Running> {
  const folder = folderWith('policies/tool.yaml', cerbosPolicy);
  const server = await startOnFreePort(core, (port, http) => [
    ...[program, 'server', '--log-level=error'],
    ...[`--set=server.grpcListenAddr=127.0.0.1:${port}`, `--set=server.httpListenAddr=127.0.0.1:${http}`],
    ...['--set=storage.driver=disk', `--set=storage.disk.directory=${join(folder.path, 'policies')}`],
    ...['--set=telemetry.disabled=true', '--set=audit.enabled=false'],
  ]);
  const request: RawRequest = {
    path: '/cerbos.svc.v1.CerbosService/CheckResources',
    contentType: 'application/grpc',
    content: { base64: framedMessage(cerbosRequest()).toString('base64') },
    // An entry of the map of effects: the action, and EFFECT_ALLOW.
    answer: { hex: Buffer.concat([field(1, 'search.web'), Buffer.from([0x10, 0x01])]).toString('hex') },
  };
  return { server: withFolder(server, folder.remove), request };
}

/** cerbos.request.v1.CheckResourcesRequest: a request id, a principal, and one resource with its actions. */
function cerbosRequest(): Buffer {
  const numberTwenty = Buffer.concat([Buffer.from([0x11]), double(20)]);
  const attribute = field(4, Buffer.concat([field(1, 'limit'), field(2, numberTwenty)]));
  const principal = Buffer.concat([field(1, 'org-1/team-1/agent-1'), field(3, 'agent')]);
  const resource = Buffer.concat([field(1, 'tool'), field(3, 'call'), attribute]);
  const entry = Buffer.concat([field(1, 'search.web'), field(2, resource)]);
  return Buffer.concat([field(1, 'f'.repeat(32)), field(3, principal), field(4, entry)]);
}

function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  if (bytes.length > 127) throw new Error('a longer field needs a longer prefix');
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

function folderWith(name: string, text: string): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'reeve-bench-peer-'));
  const remove = trackFolder(path);
  mkdirSync(join(path, 'policies'));
  writeFileSync(join(path, name), text);
  return { path, remove };
}

function withFolder(server: ServerProcess, remove: () => void): ServerProcess {
  return {
    ...server,
    stop: async () => {
      await server.stop();
      remove();
    },
  };
}
