/** An agent in plain JavaScript: it registers, asks, and says what it was told. */
export const agentModule = `import { connect } from '@reeve/sdk';
import { paths } from '@reeve/contract';
import { routes } from '@reeve/contract/http';

const reeve = connect({ address: process.env.GRPC, apiKey: process.env.KEY });
const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'agent-' + process.versions.node });
const { decision, opId } = await agent.check({ tool: 'search' });
await agent.complete(opId, { outcome: 'succeeded' });
reeve.close();
process.stdout.write(JSON.stringify({ decision, path: paths.checkAction, route: routes.readyz.path }));
`;

/** The same packages by \`require\`, where Node can. */
export const commonModule = `const { connect } = require('@reeve/sdk');
const { paths } = require('@reeve/contract');
process.stdout.write(JSON.stringify({ connect: typeof connect, path: paths.checkAction }));
`;

/** A program in TypeScript that uses every entry of the SDK, and none of a framework. It is compiled, not run. */
export const sdkProgram = `import type { Agent, Answer, OpState } from '@reeve/sdk';
import { connect, usd } from '@reeve/sdk';
import { govern as governAi } from '@reeve/sdk/ai';
import { doubtOfProgram } from '@reeve/sdk/carriers';
import { govern as governClaude } from '@reeve/sdk/claude-agent';
import { govern as governLangChain } from '@reeve/sdk/langchain';
import { govern as governMcp } from '@reeve/sdk/mcp';
import { govern as governOpenAi } from '@reeve/sdk/openai-agents';

export const all = [doubtOfProgram, governAi, governClaude, governLangChain, governMcp, governOpenAi];
export async function main(agent: Agent): Promise<Answer> {
  const reeve = connect({ address: '127.0.0.1:50051', apiKey: 'key' });
  const answer = await agent.check({ tool: 'search' }, { estimatedCostMicros: usd('0.01') });
  const state: OpState | undefined = answer.opState;
  // @ts-expect-error: a state is one of few words, so the types are there and are not any.
  const wrong: 'perhaps' = state;
  reeve.close();
  return { ...answer, reason: wrong };
}
`;

/** A program in TypeScript that uses types of every entry. It is compiled, not run. */
export const typedModule = `import type { Action, Agent, Answer, ConnectOptions } from '@reeve/sdk';
import { ActionDeniedError, connect, usd } from '@reeve/sdk';
import { CheckActionRequest, Decision, paths } from '@reeve/contract';
import { auditEventTypes } from '@reeve/contract/audit';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { routes } from '@reeve/contract/http';
import { eventSchema } from '@reeve/contract/events';
import type { OpState } from '@reeve/contract/names';

const options: ConnectOptions = { address: '127.0.0.1:50051', apiKey: 'key' };
const action: Action = { type: 'tool_call', tool: 'search', args: { q: 'refunds' } };

export async function ask(agent: Agent): Promise<Answer> {
  try {
    return await agent.run(action, ({ answer }) => answer, { estimatedCostMicros: usd('0.01') });
  } catch (error) {
    if (error instanceof ActionDeniedError) return error.answer;
    throw error;
  }
}

export async function main(): Promise<OpState | string> {
  const reeve = connect(options);
  const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'a' });
  const { decision } = await ask(agent);
  // @ts-expect-error: a decision is one of three words, so the types are there and are not any.
  const wrong: 'perhaps' = decision;
  return wrong;
}

export type ApiKey = RouteOutput<Routes['revokeApiKey']>['scopes'][number];
export const encoded: Uint8Array = CheckActionRequest.encode(CheckActionRequest.decode(new Uint8Array())).finish();
export const all: readonly unknown[] = [Decision, paths, auditEventTypes, routes, eventSchema];
`;
