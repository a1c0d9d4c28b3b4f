// A complete small agent: it registers, asks before each step, and reports what became of it.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npx node examples/hello-agent.ts
import type { Answer } from '@reeve/sdk';
import { connect, ReeveError, ReeveUnauthenticated, ReeveUnavailable, usd } from '@reeve/sdk';

// The gateway, or several that act as one, separated by commas.
const addresses = (process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051').split(',');
const where = addresses.join(' or ');
const apiKey = process.env['REEVE_API_KEY'];

async function main(): Promise<void> {
  console.log(`acme/support/hello-agent registers at ${where}\n`);
  using reeve = connect({ addresses, apiKey });
  const agent = await reeve.register({ orgId: 'acme', teamId: 'support', agentId: 'hello-agent', framework: 'none' });

  // The long way: ask, look at the answer, act, report.
  const search = await agent.check({ tool: 'search_docs', args: { q: 'refunds' } });
  print('search_docs', search);
  if (search.allowed) {
    const pages = searchDocs('refunds');
    await agent.complete(search.opId, { outcome: 'succeeded', detail: `${pages.length} pages` });
  }

  // A denial is an answer like any other.
  print('delete_customer', await agent.check({ tool: 'delete_customer', args: { id: 17 } }));

  // The short way: ask, act and report in one call, here with an estimated and a real cost.
  const call = { type: 'llm_call', model: 'gpt-5-mini', promptTokens: 1200, maxOutputTokens: 400 } as const;
  const reply = await agent.run(
    call,
    ({ answer, spent }) => {
      print('gpt-5-mini', answer);
      spent(usd('0.0007'));
      return 'Refunds take five days.';
    },
    { estimatedCostMicros: usd('0.0011'), summary: 'answer a question about refunds' },
  );
  console.log(`\nthe model said: ${reply}`);

  await agent.deregister('the example is over');
}

function searchDocs(_topic: string): string[] {
  return ['refunds.md', 'returns.md'];
}

function print(what: string, { decision, reason }: Answer): void {
  console.log(`${decision.padEnd(8)}${what.padEnd(17)}${reason}`);
}

function explain(error: ReeveError): string {
  if (error instanceof ReeveUnavailable) {
    return `No gateway answers at ${where}: ${error.message}\nStart one:  npm start -- --policy examples/policies`;
  }
  if (error instanceof ReeveUnauthenticated) {
    return `${error.message}\nSet REEVE_API_KEY to a key of the gateway; it prints one at its first start.`;
  }
  return error.message;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ReeveError)) throw error;
  console.error(explain(error));
  process.exitCode = 1;
}
