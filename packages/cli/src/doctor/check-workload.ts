import { readTokenFile } from '../agent-identity/read-token.ts';
import { UsageError } from '../cli-error.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import type { Finding } from './finding.ts';
import { failed, ok, skipped } from './finding.ts';
import type { ExplainedEntry } from './offline.ts';
import { explainOffline } from './offline.ts';

/** Says which entry of a file of workloads takes a token, and why others do not. Nothing of the token is shown. */
export async function* checkWorkload(
  shell: Shell,
  tokenFile: string,
  workloads: string | undefined,
): AsyncGenerator<Finding> {
  const path = workloads ?? variable(shell, 'SVC_WORKLOADS');
  if (path === undefined) {
    throw new UsageError('--workload needs the file of workloads: give it as --workloads FILE or SVC_WORKLOADS');
  }
  const token = readTokenFile(tokenFile);
  const { problems, entries } = await explainOffline(path, token);
  for (const { file, line, column, message } of problems) {
    yield failed('workloads', `${file}:${line}:${column}: ${message}`, 'Correct the file.');
  }
  if (problems.length > 0) return;
  const counts = entries.findIndex(({ agent }) => agent !== null);
  for (const [index, entry] of entries.entries()) yield findingOf(entry, index, counts);
  if (counts < 0) {
    yield failed('workload', 'no entry takes this token', 'Compare the claims of the token with the entries.');
  }
}

function findingOf(
  { issuer, agent, why, registers, expiresAt }: ExplainedEntry,
  index: number,
  counts: number,
): Finding {
  const check = `entry ${index + 1}`;
  if (agent === null) return skipped(check, `${issuer}: ${why}`, '');
  if (index !== counts) return skipped(check, `${issuer}: it matches as ${agent}, but entry ${counts + 1} counts`, '');
  const until = expiresAt === null ? '' : ` until ${new Date(expiresAt).toISOString()}`;
  const then = registers ? 'registered at its first call' : 'which somebody must have registered';
  return ok(check, `${issuer}: the token is ${agent}${until}, ${then}`);
}
