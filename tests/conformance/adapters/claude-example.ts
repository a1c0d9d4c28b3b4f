import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bootstrapKey, TestGateway } from '../../harness/gateway.ts';

const args = ['--import', './tests/conformance/adapters/find-frameworks.mjs', 'examples/typescript/claude-agent.ts'];

/** Runs the example as its reader would, and throws what is wrong. The other examples run in `npm test`. */
export async function runClaudeExample(): Promise<void> {
  await using gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
  const env = { ...process.env, REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_KEY: bootstrapKey };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  for (const line of [
    'search_docs: refunds.md says: five days.',
    'Denied by policy: no rule allows process_exec of "rm"',
  ]) {
    if (!stdout.includes(line)) throw new Error(`the example does not print "${line}": ${stdout}`);
  }
}
