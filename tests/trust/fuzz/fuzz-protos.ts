import type { ServiceError } from '@grpc/grpc-js';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import {
  AckOpControlRequest,
  ActionType,
  BatchCheckRequest,
  CheckActionRequest,
  CompleteActionRequest,
  DeregisterAgentRequest,
  HealthCheckRequest,
  HeartbeatRequest,
  OpControlSubscribeRequest,
  paths,
  RegisterAgentRequest,
} from '@reeve/contract';
import type { World } from '../../fuzz/world.ts';
import type { Registered } from '../../harness/gateway.ts';
import { bootstrapKey, checkRequest, toolCall } from '../../harness/gateway.ts';
import { Chance } from '../chance.ts';
import type { Limits } from '../part.ts';
import { isOver } from '../part.ts';
import { mutateMessage, randomMessage } from './proto-bytes.ts';

/** Statuses that blame the server instead of the message. */
const serverFaults: Readonly<Record<number, string>> = {
  2: 'UNKNOWN',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  15: 'DATA_LOSS',
};
const atOnce = 16;
const streams: ReadonlySet<string> = new Set([
  paths.checkStream,
  paths.opControlStream,
  paths.healthWatch,
  paths.reflectionV1,
  paths.reflectionV1Alpha,
]);

/** Sends random and mutated messages to every RPC. None may cause a server fault or go unanswered. */
export async function fuzzProtos({ gateway }: World, limits: Limits): Promise<{ inputs: number; findings: string[] }> {
  const agent = await gateway.register({ orgId: 'proto', agentId: 'proto' });
  const valid = validMessages(agent);
  const client = new Client(gateway.grpc, credentials.createInsecure(), { 'grpc.max_send_message_length': -1 });
  const findings: string[] = [];
  let inputs = 0;
  const all = Object.values(paths);
  const lane = async () => {
    while (!isOver(limits, inputs) && findings.length === 0) {
      const nth = inputs++;
      const chance = new Chance(Math.imul(limits.seed, 0x27_d4_eb_2f) ^ Math.imul(nth + 1, 0x16_56_67_b1));
      // Streams are tried less often, because a silent one stays open until its deadline.
      const path = chance.oneOf(all.filter((each) => !streams.has(each) || chance.happens(0.05))) ?? paths.checkAction;
      const known = valid[path] ?? new Uint8Array();
      const bytes = chance.happens(0.15) ? randomMessage(chance) : mutateMessage(chance, known);
      const fault = await (streams.has(path) ? callStream(client, path, bytes) : callUnary(client, path, bytes));
      if (fault !== undefined) {
        findings.push(`${path} ${fault}: message ${nth} of seed ${limits.seed}, in base64 ${brief(bytes)}`);
      }
      if (nth % 10_000 === 9999) limits.say(`protos: ${nth + 1} messages`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  client.close();
  return { inputs, findings };
}

function callUnary(client: Client, path: string, bytes: Uint8Array): Promise<string | undefined> {
  return new Promise((resolve) => {
    const answered = (error: ServiceError | null) => resolve(faultOf(error, false));
    client.makeUnaryRequest(path, Buffer.from, asIs, bytes, metadataOf(), deadline(30_000), answered);
  });
}

function callStream(client: Client, path: string, bytes: Uint8Array): Promise<string | undefined> {
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest(path, Buffer.from, asIs, metadataOf(), deadline(300));
    call.on('data', () => undefined);
    call.on('error', (error: ServiceError) => resolve(faultOf(error, true)));
    call.on('end', () => resolve(undefined));
    call.write(bytes);
    call.end();
  });
}

function faultOf(error: ServiceError | null, isStream: boolean): string | undefined {
  if (error === null) return undefined;
  if (error.code === status.DEADLINE_EXCEEDED) return isStream ? undefined : 'has no answer within 30 s';
  const name = serverFaults[error.code];
  return name === undefined ? undefined : `answers ${name} (${error.details})`;
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

function metadataOf(): Metadata {
  const metadata = new Metadata();
  metadata.add('authorization', `Bearer ${bootstrapKey}`);
  return metadata;
}

function deadline(ms: number): { deadline: number } {
  return { deadline: Date.now() + ms };
}

function brief(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('base64');
  return text.length > 4000 ? `${text.slice(0, 4000)}… (${bytes.length} bytes)` : text;
}

/** A valid message of each RPC, to start from. */
function validMessages(agent: Registered): Readonly<Record<string, Uint8Array>> {
  const asking = { agentId: agent.id, credentialToken: agent.token };
  const check = checkRequest(agent, {
    traceId: 'trace',
    spanId: 'span',
    actionType: ActionType.TOOL_CALL,
    context: toolCall('search', { query: 'x', list: [1, { a: null }] }),
    callerAgentId: agent.id,
    estimatedCostMicros: 5,
    runId: 'run',
    summary: 'a summary',
  });
  const registration: RegisterAgentRequest = {
    agentId: { orgId: 'proto', teamId: 'core', agentId: 'another' },
    credentialToken: '',
    name: 'a name',
    framework: 'none',
    version: '1',
    parentAgentId: agent.id,
    metadata: { env: 'test' },
    toolNames: ['search'],
  };
  return {
    [paths.checkAction]: CheckActionRequest.encode(check).finish(),
    [paths.checkStream]: CheckActionRequest.encode(check).finish(),
    [paths.batchCheck]: BatchCheckRequest.encode({ requests: [check, check] }).finish(),
    [paths.completeAction]: CompleteActionRequest.encode({
      ...asking,
      opId: 'trace:span',
      actualCostMicros: 3,
      outcome: 1,
      detail: 'done',
    }).finish(),
    [paths.opControlStream]: OpControlSubscribeRequest.encode({
      ...asking,
      afterSequence: 1,
      waitsOnly: true,
    }).finish(),
    [paths.ackOpControl]: AckOpControlRequest.encode({ ...asking, sequence: 1, outcome: 1, detail: 'd' }).finish(),
    [paths.registerAgent]: RegisterAgentRequest.encode(registration).finish(),
    [paths.heartbeat]: HeartbeatRequest.encode(asking).finish(),
    [paths.deregisterAgent]: DeregisterAgentRequest.encode({ ...asking, reason: 'r' }).finish(),
    [paths.healthCheck]: HealthCheckRequest.encode({ service: '' }).finish(),
    [paths.healthWatch]: HealthCheckRequest.encode({ service: 'reeve.v1.PolicyService' }).finish(),
  };
}
