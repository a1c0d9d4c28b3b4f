import {
  ActionType,
  CheckActionRequest,
  CheckActionResponse,
  CheckResultRequest,
  CheckResultResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  DelegateAgentRequest,
  DelegateAgentResponse,
  DeregisterAgentRequest,
  DeregisterAgentResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  IdentifyAgentRequest,
  IdentifyAgentResponse,
  paths,
  PreviewToolsRequest,
  PreviewToolsResponse,
  RegisterAgentRequest,
  RegisterAgentResponse,
  RenewTokenRequest,
  RenewTokenResponse,
  ReportToolDefinitionsRequest,
  ReportToolDefinitionsResponse,
} from '@reeve/contract';
import type { Registered } from '../../harness/gateway.ts';
import { checkRequest, toolCall } from '../../harness/gateway.ts';
import type { TokenIssuer } from '../../harness/token-issuer.ts';
import type { World } from './world.ts';
import { worstTexts } from './worst-texts.ts';

type Rpc = keyof typeof paths;
type Worst = (world: World) => Promise<unknown>;

/** A message on a stream is like a call, and does the same work. */
const likeItsCalls: Worst = () => Promise.resolve();

/** With these arguments the tenant's conditions reach their cost limit. */
const dear = { a: Array.from({ length: 600 }, (_, at) => at) };
const many = 500;

/** Arguments that fill a message. */
function worstArguments(): Buffer[] {
  const room = 4 * 1024 * 1024 - 2000;
  const list = (item: string) => `[${Array.from({ length: room / (item.length + 1) }, () => item).join(',')}]`;
  const names = Array.from({ length: room / 14 }, (_, at) => `"m${at.toString(36).padStart(6, '0')}":0`);
  return [list('0'), list('{}'), list('"a"'), `{${names.join(',')}}`, JSON.stringify('a\u0301'.repeat(room / 3))].map(
    (text) => Buffer.from(text).subarray(0, room + 1000),
  );
}

let signed = 0;

/** Checks with tokens that nobody has seen: for one user each, by agents and by workloads. */
async function newTokens(issuer: TokenIssuer, bot: Registered, count = 1000): Promise<CheckActionRequest[]> {
  const checks: CheckActionRequest[] = [];
  for (let at = 0; at < count; at++) {
    const subjectToken = await issuer.sign({ sub: `user-${++signed}` });
    const token = at % 2 === 0 ? bot.token : await issuer.sign({ sub: `work-${signed}` });
    checks.push(checkRequest({ ...bot, token }, { subjectToken }));
  }
  return checks;
}

async function all(calls: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const call of calls) await call().catch(() => undefined);
}

/** The worst request of each RPC. An RPC without an entry does not compile, and fails the test. */
export const worstRpcs: Readonly<Record<Rpc, Worst>> = {
  checkAction: ({ gateway, bot }) =>
    all([
      ...worstTexts(512).map((tool) => () => gateway.check(bot, { context: toolCall(tool) })),
      ...worstTexts(8000).map(
        (path) => () =>
          gateway.check(bot, {
            actionType: ActionType.FILE_OPERATION,
            context: { action: { $case: 'fileOp', value: { operation: 'read', path } } },
          }),
      ),
      () => gateway.check(bot, { context: toolCall('x', dear) }),
      ...worstArguments().map(
        (argsJson) => () =>
          gateway.check(bot, {
            context: {
              action: { $case: 'toolCall', value: { toolName: 'x', toolSource: '', argsJson, targetUrl: '' } },
            },
          }),
      ),
      ...worstTexts(60_000).map((text) => () => gateway.check(bot, { context: toolCall('x', { text }) })),
    ]),
  batchCheck: ({ gateway, bot, issuer }) =>
    all([
      // Two tokens of each entry must be verified.
      async () => {
        const requests = await newTokens(issuer, bot);
        return gateway.batch(requests);
      },
      () => {
        const requests = Array.from({ length: 1000 }, () => checkRequest(bot, { context: toolCall('x', dear) }));
        return gateway.batch(requests);
      },
      ...worstTexts(1500).map((text) => () => {
        const requests = Array.from({ length: 1000 }, () => checkRequest(bot, { context: toolCall('x', { text }) }));
        return gateway.batch(requests);
      }),
    ]),
  checkStream: async ({ gateway, bot, issuer }) => {
    const call = gateway.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
    const answered = new Promise<void>((resolve, reject) => {
      let answers = 0;
      call.on('data', () => {
        if (++answers === many) resolve();
      });
      call.on('error', reject);
    });
    const others = await newTokens(issuer, bot, many / 2);
    for (let at = others.length; at < many; at++) call.write(checkRequest(bot, { context: toolCall('x', dear) }));
    for (const check of others) call.write(check);
    await answered;
    call.end();
  },
  checkResult: async ({ gateway, bot }) => {
    const { opId } = await gateway.check(bot, { context: toolCall('x') });
    const results = [
      ...worstTexts(60_000).map((text) => Buffer.from(text)),
      ...worstArguments(),
      // Nearly cards and addresses by the thousand.
      Buffer.from(JSON.stringify(Array.from({ length: 50_000 }, (_, at) => `4${at} 1111 1111 1111 1111 a@${at}`))),
      Buffer.from('['.repeat(1_000_000)),
    ];
    await all(
      results.map(
        (resultJson) => () =>
          gateway.client.call(paths.checkResult, CheckResultRequest, CheckResultResponse, {
            agentId: bot.id,
            credentialToken: bot.token,
            opId,
            resultJson,
            isError: false,
          }),
      ),
    );
  },
  completeAction: ({ gateway, bot, opId }) =>
    all(
      worstTexts(8000).map(
        (detail) => () =>
          gateway.client.call(paths.completeAction, CompleteActionRequest, CompleteActionResponse, {
            agentId: bot.id,
            credentialToken: bot.token,
            opId,
            actualCostMicros: undefined,
            outcome: 1,
            detail,
          }),
      ),
    ),
  opControlStream: likeItsCalls,
  ackOpControl: likeItsCalls,
  registerAgent: ({ gateway, tenant }) =>
    all(
      worstTexts(500).map(
        (text, at) => () =>
          gateway.client.call(
            paths.registerAgent,
            RegisterAgentRequest,
            RegisterAgentResponse,
            {
              agentId: { orgId: 'acme', teamId: 'core', agentId: `worst-${at}` },
              credentialToken: '',
              name: text,
              framework: text,
              version: '',
              parentAgentId: undefined,
              metadata: Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`m${n}`, text])),
              toolNames: Array.from({ length: 500 }, (_, n) => `${text}${n}`),
            },
            { authorization: `Bearer ${tenant}` },
          ),
      ),
    ),
  heartbeat: ({ gateway, bot }) =>
    all([
      () =>
        gateway.client.call(paths.heartbeat, HeartbeatRequest, HeartbeatResponse, {
          agentId: bot.id,
          credentialToken: 'x'.repeat(1_000_000),
        }),
    ]),
  renewToken: ({ gateway, bot }) =>
    all([
      () =>
        gateway.client.call(paths.renewToken, RenewTokenRequest, RenewTokenResponse, {
          agentId: bot.id,
          credentialToken: 'x'.repeat(1_000_000),
        }),
    ]),
  identifyAgent: ({ gateway }) =>
    all([
      () =>
        gateway.client.call(paths.identifyAgent, IdentifyAgentRequest, IdentifyAgentResponse, {
          credentialToken: 'x'.repeat(1_000_000),
        }),
    ]),
  previewTools: ({ gateway, bot }) =>
    all(
      worstTexts(60).map(
        (text) => () =>
          gateway.client.call(paths.previewTools, PreviewToolsRequest, PreviewToolsResponse, {
            agentId: bot.id,
            credentialToken: bot.token,
            toolSource: text,
            toolNames: Array.from({ length: 1000 }, (_, n) => `${text}${n}`),
          }),
      ),
    ),
  reportToolDefinitions: ({ gateway, bot }) =>
    all(
      worstTexts(500).map(
        (text) => () =>
          gateway.client.call(
            paths.reportToolDefinitions,
            ReportToolDefinitionsRequest,
            ReportToolDefinitionsResponse,
            {
              agentId: bot.id,
              credentialToken: bot.token,
              toolSource: text,
              changed: Array.from({ length: 1000 }, (_, n) => ({
                toolName: `${text}${n}`,
                lockedSha256: 'a'.repeat(64),
                actualSha256: 'b'.repeat(64),
              })),
            },
          ),
      ),
    ),
  deregisterAgent: ({ gateway, bot }) =>
    all(
      worstTexts(8000).map(
        (reason) => () =>
          gateway.client.call(paths.deregisterAgent, DeregisterAgentRequest, DeregisterAgentResponse, {
            agentId: bot.id,
            credentialToken: 'not its token',
            reason,
          }),
      ),
    ),
  delegateAgent: ({ gateway, bot }) =>
    all(
      ['*', '**', '?', '[ab]', '**a'].flatMap((part, at) =>
        Array.from({ length: 20 }, (_, n) => () => {
          return gateway.client.call(paths.delegateAgent, DelegateAgentRequest, DelegateAgentResponse, {
            agentId: bot.id,
            credentialToken: bot.token,
            childId: `worst-${at}-${n}`,
            ttlSecs: 60,
            actions: [],
            tools: Array.from({ length: 100 }, () => part.repeat(Math.floor(80 / part.length))),
            maxCostMicros: undefined,
            maxChecks: undefined,
            name: 'x'.repeat(512),
          });
        }),
      ),
    ),
  // It ends what was delegated, as leaving does.
  revokeDelegation: likeItsCalls,
  healthCheck: likeItsCalls,
  healthWatch: likeItsCalls,
  reflectionV1: likeItsCalls,
  reflectionV1Alpha: likeItsCalls,
};
