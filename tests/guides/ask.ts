// What an agent of a reader has done, for guides that are about its traces:
// `node tests/guides/ask.ts ORG/TEAM/AGENT TOOL [JSON] [TRACE:SPAN]`. It asks once and goes, so its operation stays as it is.
import { connect } from '@reeve/sdk';

const [path = '', tool = '', args = '{}', op] = process.argv.slice(2);
const [orgId = '', teamId = '', agentId = ''] = path.split('/');
const [traceId, spanId] = op?.split(':') ?? [];
const reeve = connect({
  address: process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051',
  apiKey: process.env['REEVE_API_KEY'] ?? '',
});
const parent = process.env['PARENT'];
const agent = await reeve.register({
  orgId,
  teamId,
  agentId,
  name: `${agentId.slice(0, 1).toUpperCase()}${agentId.slice(1)}`,
  ...(parent === undefined ? {} : { parent: { orgId, teamId: 'dispatch', agentId: parent } }),
});
const given = traceId === undefined || spanId === undefined ? {} : { traceId, spanId };
const answer = await agent.check(
  { tool, args: JSON.parse(args) as Record<string, string> },
  { runId: 'run-1', ...given },
);
process.stdout.write(`${answer.decision} ${answer.opId} ${answer.approvalId}\n`);
reeve.close();
