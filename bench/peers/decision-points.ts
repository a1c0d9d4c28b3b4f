import { framedMessage } from '../http2-frames.ts';
import type { RawCall, RawRequest } from '../load-protocol.ts';
import type { ServerProcess } from '../server-process.ts';
import { startServer } from '../server-process.ts';
import { startOnFreePort } from './free-port-server.ts';
import { folderWith } from './peer-folder.ts';
import { rulesOf } from './peer-rules.ts';
import { field, valueEntry } from './protobuf-fields.ts';

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

/** The arguments of a call that is allowed, and of one that is denied. */
export const args = { allowed: { limit: 20 }, denied: { limit: 500 } };
export const mixArgs = {
  allowed: { ...args.allowed, safe: true, language: 'en' },
  denied: { ...args.denied, safe: true, language: 'en' },
};

/** OPA over cleartext HTTP/2, so that calls share connections as those of gRPC do. It may log decisions to a file. */
export async function startOpa(
  core: number | undefined,
  program: string,
  { isMixed, logs }: { readonly isMixed: boolean; readonly logs: boolean },
): Promise<Running> {
  const folder = folderWith('policy.rego', rulesOf(isMixed).rego);
  const server = await startOnFreePort(
    core,
    (port) => [
      ...[program, 'run', '--server', '--h2c', '--disable-telemetry', '--log-level', 'error'],
      ...(logs ? ['--set', 'decision_logs.console=true'] : []),
      ...['--addr', `127.0.0.1:${port}`, folder.path('policy.rego')],
    ],
    logs ? folder.path('decisions.log') : undefined,
  );
  const call = (given: object, result: boolean): RawCall => {
    const input = { tool: 'search.web', agent: 'org-1/team-1/agent-1', trace: 'f'.repeat(32), args: given };
    return {
      content: { base64: Buffer.from(JSON.stringify({ input })).toString('base64') },
      // With a log, the id of the decision comes first.
      answer: { hex: Buffer.from(`"result":${result}`).toString('hex') },
    };
  };
  const request: RawRequest = {
    path: '/v1/data/reeve/allow',
    contentType: 'application/json',
    ...(isMixed
      ? { ...call(mixArgs.allowed, true), mix: { denied: call(mixArgs.denied, false) } }
      : call(args.allowed, true)),
  };
  return { server: folder.ending(server), request };
}

/** Cedar over gRPC, in a server of ours that reads JSON and does nothing else. */
export async function startCedar(core: number | undefined, program: string, isMixed: boolean): Promise<Running> {
  const folder = folderWith('policies.cedar', rulesOf(isMixed).cedar);
  const server = await startServer(core, [program, folder.path('policies.cedar')]);
  const call = (given: object, decision: 'allow' | 'deny'): RawCall => {
    const asked = {
      principal: 'Agent::"org-1/team-1/agent-1"',
      action: 'Action::"call"',
      resource: 'Tool::"search.web"',
      context: { tool: 'search.web', trace: 'f'.repeat(32), args: given },
    };
    return {
      content: { base64: framedMessage(Buffer.from(JSON.stringify(asked))).toString('base64') },
      answer: { hex: Buffer.from(decision).toString('hex') },
    };
  };
  const request: RawRequest = {
    path: '/cedar.Authorizer/IsAuthorized',
    contentType: 'application/grpc',
    ...(isMixed
      ? { ...call(mixArgs.allowed, 'allow'), mix: { denied: call(mixArgs.denied, 'deny') } }
      : call(args.allowed, 'allow')),
  };
  return { server: folder.ending(server), request };
}

/** Cerbos over gRPC. */
export async function startCerbos(core: number | undefined, program: string): Promise<Running> {
  const folder = folderWith('policies/tool.yaml', cerbosPolicy);
  const server = await startOnFreePort(core, (port, http) => [
    ...[program, 'server', '--log-level=error'],
    ...[`--set=server.grpcListenAddr=127.0.0.1:${port}`, `--set=server.httpListenAddr=127.0.0.1:${http}`],
    ...['--set=storage.driver=disk', `--set=storage.disk.directory=${folder.path('policies')}`],
    ...['--set=telemetry.disabled=true', '--set=audit.enabled=false'],
  ]);
  const request: RawRequest = {
    path: '/cerbos.svc.v1.CerbosService/CheckResources',
    contentType: 'application/grpc',
    content: { base64: framedMessage(cerbosRequest()).toString('base64') },
    // An entry of the map of effects: the action, and EFFECT_ALLOW.
    answer: { hex: Buffer.concat([field(1, 'search.web'), Buffer.from([0x10, 0x01])]).toString('hex') },
  };
  return { server: folder.ending(server), request };
}

/** cerbos.request.v1.CheckResourcesRequest: a request id, a principal, and one resource with its actions. */
function cerbosRequest(): Buffer {
  const attribute = field(4, valueEntry('limit', 20));
  const principal = Buffer.concat([field(1, 'org-1/team-1/agent-1'), field(3, 'agent')]);
  const resource = Buffer.concat([field(1, 'tool'), field(3, 'call'), attribute]);
  const entry = Buffer.concat([field(1, 'search.web'), field(2, resource)]);
  return Buffer.concat([field(1, 'f'.repeat(32)), field(3, principal), field(4, entry)]);
}
