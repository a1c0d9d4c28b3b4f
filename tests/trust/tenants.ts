import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { GrpcAgents } from '../../packages/cli/src/doctor/grpc-agents.ts';
import { formatReport } from '../../packages/cli/src/tenant-probe/format-report.ts';
import { probeTenants } from '../../packages/cli/src/tenant-probe/probe-tenants.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { loadEnv } from './mixed-load.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

/** Who may lift, change, approve and delete what: every credential against everything that can be imposed. */
const matrixTests = 'tests/e2e/authority*.test.ts';

/** Tenants cannot see or touch each other, and nobody lifts what a wider credential has imposed. */
export async function tenants(limits: Limits): Promise<Outcome> {
  const counts = { probes: 0, calls: 0, 'matrix files': 0 };
  const findings: string[] = [];
  const notRun: string[] = [];
  const files = globSync(matrixTests);
  if (files.length === 0) notRun.push(`the authority matrix: there is no ${matrixTests}`);
  else {
    counts['matrix files'] = files.length;
    findings.push(...(await runMatrix(files)));
  }
  while (!isOver(limits, counts.probes) && findings.length === 0) {
    await using gateway = await TestGateway.start({
      policies: { 'all.yaml': allowAll },
      env: { ...loadEnv, SVC_OPS_TTL_SECS: '3600' },
    });
    using agents = await GrpcAgents.open(gateway.grpc, false);
    const report = await probeTenants({ baseUrl: gateway.http, fetch, adminCredential: bootstrapKey, agents });
    counts.probes++;
    counts.calls += report.tried.calls;
    if (report.findings.length > 0) findings.push(formatReport(report));
    limits.say(`${counts.probes} probes, ${counts.calls} calls, ${findings.length} findings`);
  }
  return { counts, findings, notRun };
}

async function runMatrix(files: readonly string[]): Promise<string[]> {
  const child = spawn('node_modules/.bin/vitest', ['run', ...files], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? [] : [`the authority matrix does not hold: ${said.slice(-4000)}`];
}
