import { fileURLToPath } from 'node:url';
import { paths } from '@reeve/contract';
import { startGateway } from '../gateway-process.ts';
import type { LoadProcess } from '../load-process.ts';
import type { RawCall, RawRequest, SmallCheck } from '../load-protocol.ts';
import type { ServerProcess } from '../server-process.ts';
import { startServer } from '../server-process.ts';
import type { Program } from './built-programs.ts';
import { byGo, onPath, onTonic } from './built-programs.ts';
import { startCedar, startCerbos, startOpa } from './decision-points.ts';
import { startOpenFga } from './openfga.ts';
import { rulesOf } from './peer-rules.ts';

export interface RunningPeer {
  readonly server: ServerProcess;
  readonly request: RawRequest;
  /** Whether each call leaves an operation behind, to be completed after the round. */
  readonly hasOps?: boolean;
}

export interface PeerContext {
  readonly core: number | undefined;
  readonly load: LoadProcess;
  /** Whether to decide by the rules of the mix. */
  readonly isMixed: boolean;
  /** The fleet whose messages the echoes get, and an answer of its gateway, which they repeat. */
  readonly sample: { readonly fleet: string; readonly answerHex: string };
}

/** A server to compare with. */
export interface Peer {
  readonly name: string;
  /** What it does beside taking and giving bytes. */
  readonly decides: boolean;
  /** Whether it is left out of the mix. */
  readonly isPlain?: boolean;
  /** Finds or builds what it needs. */
  prepare(): Promise<Program>;
  start(program: string, context: PeerContext): Promise<RunningPeer>;
}

/** Both the gateway and the echoes answer with the decision first, after the prefix of the message. */
function checkCall(fleet: string, check: SmallCheck, decision: 'ALLOW' | 'DENY' | 'PENDING'): RawCall {
  return {
    content: { fleet, check },
    answer: { hex: { ALLOW: '0801', DENY: '0802', PENDING: '0803' }[decision], at: 5 },
  };
}

function checkRequest(fleet: string): RawRequest {
  return { path: paths.checkAction, contentType: 'application/grpc', ...checkCall(fleet, 'plain', 'ALLOW') };
}

/** The same for the mix, in which the gateway also holds calls, and has what is allowed completed. */
function mixedRequest(fleet: string): RawRequest {
  return {
    ...checkRequest(fleet),
    ...checkCall(fleet, 'small', 'ALLOW'),
    mix: {
      denied: checkCall(fleet, 'large', 'DENY'),
      held: checkCall(fleet, 'deep', 'PENDING'),
      completePath: paths.completeAction,
    },
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

/** A gateway with default settings. By the plain rule, its operations pile up within a round; those of the mix end. */
export async function startReeve(core: number | undefined, load: LoadProcess, isMixed: boolean): Promise<RunningPeer> {
  const server = await startGateway({ core, policies: { 'base.yaml': rulesOf(isMixed).reeve } });
  await load.run({ kind: 'register', fleet: server.grpc, agents: 100, orgs: 10 });
  const request = isMixed ? mixedRequest(server.grpc) : checkRequest(server.grpc);
  return { server, request, hasOps: !isMixed };
}

async function opa(): Promise<Program> {
  const installed = onPath('opa');
  return 'path' in installed ? installed : await byGo('opa', 'github.com/open-policy-agent/opa');
}

const byNode = (program: string) => [process.execPath, program];
const always = (path: string) => () => Promise.resolve({ path: fileURLToPath(new URL(path, import.meta.url)) });

/** The first is what the others are compared with. */
export const peers: readonly Peer[] = [
  echo(
    'tonic',
    () => onTonic('tonic-echo'),
    (program) => [program],
  ),
  echo(
    'grpc-go',
    () => byGo('go-echo'),
    (program) => [program],
  ),
  echo('grpc-js', always('echo-grpc-js.ts'), byNode),
  echo('Reeve engine', always('echo-reeve.ts'), byNode),
  {
    name: 'Reeve',
    decides: true,
    prepare: always('.'),
    start: (_, { core, load, isMixed }) => startReeve(core, load, isMixed),
  },
  {
    name: 'OPA',
    decides: true,
    prepare: opa,
    start: (program, { core, isMixed }) => startOpa(core, program, { isMixed, logs: false }),
  },
  {
    name: 'OPA, decision log',
    decides: true,
    prepare: opa,
    start: (program, { core, isMixed }) => startOpa(core, program, { isMixed, logs: true }),
  },
  {
    name: 'Cedar',
    decides: true,
    prepare: () => onTonic('cedar'),
    start: (program, { core, isMixed }) => startCedar(core, program, isMixed),
  },
  {
    name: 'OpenFGA',
    decides: true,
    prepare: () => byGo('openfga', 'github.com/openfga/openfga/cmd/openfga'),
    start: (program, { core, isMixed }) => startOpenFga(core, program, isMixed),
  },
  {
    name: 'Cerbos',
    decides: true,
    isPlain: true,
    prepare: () => Promise.resolve(onPath('cerbos')),
    start: (program, { core }) => startCerbos(core, program),
  },
];
