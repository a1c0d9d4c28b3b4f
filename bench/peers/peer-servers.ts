import { fileURLToPath } from 'node:url';
import { paths } from '@reeve/contract';
import { startGateway } from '../gateway-process.ts';
import type { LoadProcess } from '../load-process.ts';
import type { RawRequest } from '../load-protocol.ts';
import type { ServerProcess } from '../server-process.ts';
import { startServer } from '../server-process.ts';
import type { Program } from './built-echo.ts';
import { goEcho, onPath, tonicEcho } from './built-echo.ts';
import { reevePolicy, startCerbos, startOpa } from './decision-points.ts';

export interface RunningPeer {
  readonly server: ServerProcess;
  readonly request: RawRequest;
  /** Whether each call leaves an operation behind, to be completed after the round. */
  readonly hasOps?: boolean;
}

export interface PeerContext {
  readonly core: number | undefined;
  readonly load: LoadProcess;
  /** The fleet whose messages the echoes get, and an answer of its gateway, which they repeat. */
  readonly sample: { readonly fleet: string; readonly answerHex: string };
}

/** A server to compare with. */
export interface Peer {
  readonly name: string;
  /** What it does beside taking and giving bytes. */
  readonly decides: boolean;
  /** Finds or builds what it needs. */
  prepare(): Promise<Program>;
  start(program: string, context: PeerContext): Promise<RunningPeer>;
}

/** Both the gateway and the echoes answer with `decision: ALLOW` first, after the prefix of the message. */
export function checkRequest(fleet: string): RawRequest {
  return {
    path: paths.checkAction,
    contentType: 'application/grpc',
    content: { fleet },
    answer: { hex: '0801', at: 5 },
  };
}

function echo(name: string, prepare: () => Promise<Program>, command: (program: string) => readonly string[]): Peer {
  return {
    name: `${name} echo`,
    decides: false,
    prepare,
    start: async (program, { core, sample }) => ({
      server: await startServer(core, [...command(program), sample.answerHex]),
      request: checkRequest(sample.fleet),
    }),
  };
}

/** A gateway with default settings and one rule. Its operations pile up within a round. */
export async function startReeve(core: number | undefined, load: LoadProcess): Promise<RunningPeer> {
  const server = await startGateway({ core, policies: { 'base.yaml': reevePolicy } });
  await load.run({ kind: 'register', fleet: server.grpc, agents: 100, orgs: 10 });
  return { server, request: checkRequest(server.grpc), hasOps: true };
}

const byNode = (program: string) => [process.execPath, program];
const always = (path: string) => () => Promise.resolve({ path: fileURLToPath(new URL(path, import.meta.url)) });

/** The first is what the others are compared with. */
export const peers: readonly Peer[] = [
  echo('tonic', tonicEcho, (program) => [program]),
  echo('grpc-go', goEcho, (program) => [program]),
  echo('grpc-js', always('echo-grpc-js.ts'), byNode),
  echo('Reeve engine', always('echo-reeve.ts'), byNode),
  {
    name: 'Reeve',
    decides: true,
    prepare: always('.'),
    start: (_, { core, load }) => startReeve(core, load),
  },
  {
    name: 'OPA',
    decides: true,
    prepare: () => Promise.resolve(onPath('opa')),
    start: (program, { core }) => startOpa(core, program),
  },
  {
    name: 'Cerbos',
    decides: true,
    prepare: () => Promise.resolve(onPath('cerbos')),
    start: (program, { core }) => startCerbos(core, program),
  },
];
