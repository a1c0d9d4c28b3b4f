// An agent whose work can be paused, resumed and terminated while it runs: it reads a book page by page.
//
//   npm start -- --policy examples/policies          the gateway; it prints an API key at its first start
//   REEVE_API_KEY=rvk_… npx node examples/stoppable-agent.ts
//
// docs/guides/stopping-agents.md shows how to stop it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '@reeve/sdk';
import { ActionDeniedError, connect, OperationTerminatedError, ReeveError } from '@reeve/sdk';

// The gateway, or several that act as one, separated by commas.
const addresses = (process.env['REEVE_GRPC_ADDR'] ?? '127.0.0.1:50051').split(',');
const apiKey = process.env['REEVE_API_KEY'];
const pages = Number(process.env['PAGES'] ?? 30);

async function main(): Promise<void> {
  using reeve = connect({ addresses, apiKey });
  await using agent = await reeve.register({
    orgId: 'acme',
    teamId: 'support',
    agentId: 'reader',
    onConnection: ({ type }) => console.log(`  control stream: ${type}`),
    onControl: ({ signal, reason }) => console.log(`  ${signal}: ${reason}`),
  });
  const readBook = agent.guard('read_book', read, { passOperation: true });
  try {
    console.log(`read ${await readBook('the manual')} pages`);
  } catch (error) {
    if (error instanceof ActionDeniedError) console.log(error.message);
    else if (error instanceof OperationTerminatedError) console.log(`stopped: ${error.reason}`);
    else throw error;
  }
}

async function read(_book: string, operation: Operation): Promise<number> {
  console.log(`operation ${operation.id}`);
  for (let page = 1; page <= pages; page++) {
    // A pause takes effect here. A termination takes effect here at the latest.
    await operation.checkpoint();
    console.log(`page ${page}`);
    // Slow work gets the signal, so that a termination does not wait for it.
    await sleep(500, undefined, { signal: operation.signal });
  }
  return pages;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ReeveError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
