// Calls as an agent does, in one of several ways, and says what that has cost this process: a job for each message.
import { randomBytes } from 'node:crypto';
import { Client, credentials } from '@grpc/grpc-js';
import type { CheckActionRequest as Request, CheckActionResponse as Response } from '@reeve/contract';
import { ActionType, CheckActionRequest, CheckActionResponse, Decision, paths } from '@reeve/contract';
import { GrpcClient } from '@reeve/grpc-server/client';
import { connect } from '@reeve/sdk';
import { bootstrapKey } from './load-protocol.ts';
import type { CallerJob, CallerResult, Way } from './sdk-cost.ts';

type Ask = () => Promise<boolean>;

const [way, address] = process.argv.slice(2) as [Way, string];
const args = { query: 'quarterly revenue of the five largest suppliers', limit: 20 };
const tool = 'search.web';
const deadlineMs = 5000;

/** What the SDK sends for the same check. */
function request(): Request {
  const toolCall = { toolName: tool, toolSource: '', argsJson: Buffer.from(JSON.stringify(args)), targetUrl: '' };
  return {
    agentId: { orgId: 'default', teamId: 'default', agentId: 'bot' },
    credentialToken: 'token',
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    actionType: ActionType.TOOL_CALL,
    context: { action: { $case: 'toolCall', value: toolCall } },
    callerAgentId: undefined,
    estimatedCostMicros: 0,
    runId: '',
    summary: '',
    canRewrite: false,
  };
}

const isAllowed = ({ decision }: Response) => decision === Decision.ALLOW;

/** The generated codec and the client alone, as one would call a method of any other server. */
const ways: Readonly<Record<Way, () => Promise<Ask>>> = {
  'bare call': async () => {
    const client = new GrpcClient({ address });
    return () =>
      new Promise((resolve, reject) => {
        const bytes = CheckActionRequest.encode(request()).finish();
        client.unary(paths.checkAction, bytes, { timeoutMs: deadlineMs }, ({ code, message }, answer) => {
          if (answer === undefined) reject(new Error(`${code}: ${message}`));
          else resolve(isAllowed(CheckActionResponse.decode(answer)));
        });
      });
  },
  'bare call by grpc-js': async () => {
    const client = new Client(address, credentials.createInsecure());
    const encode = (message: Request) => Buffer.from(CheckActionRequest.encode(message).finish());
    const decode = (bytes: Buffer) => CheckActionResponse.decode(bytes);
    return () =>
      new Promise((resolve, reject) => {
        const deadline = Date.now() + deadlineMs;
        client.makeUnaryRequest(paths.checkAction, encode, decode, request(), { deadline }, (error, answer) => {
          if (answer === undefined) reject(error ?? new Error('no answer'));
          else resolve(isAllowed(answer));
        });
      });
  },
  'agent.check': async () => {
    const reeve = connect({ address, apiKey: bootstrapKey, deadlineMs });
    const agent = await reeve.register({ agentId: 'bot' });
    return async () => (await agent.check({ type: 'tool_call', tool, args })).allowed;
  },
};

async function perform(ask: Ask, { lanes, seconds }: CallerJob): Promise<CallerResult> {
  const until = performance.now() + seconds * 1000;
  const cpu = process.cpuUsage();
  const started = performance.now();
  let calls = 0;
  const lane = async () => {
    while (performance.now() < until) {
      if (!(await ask())) throw new Error('a check was not allowed');
      calls++;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const { user, system } = process.cpuUsage(cpu);
  const wallMicros = (performance.now() - started) * 1000;
  return {
    cpuMicros: (user + system) / calls,
    wallMicros: (wallMicros / calls) * lanes,
    perSecond: (calls * 1e6) / wallMicros,
  };
}

const ask = await ways[way]();
process.on('message', (job: CallerJob) => void perform(ask, job).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit());
process.stdout.write(`${JSON.stringify({ event: 'listening', grpc: address })}\n`);
