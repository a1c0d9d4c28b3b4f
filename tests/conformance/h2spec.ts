import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUs } from '../harness/end-with-us.ts';
import type { RequestKind } from './h2spec-exceptions.ts';
import { exceptions } from './h2spec-exceptions.ts';
import type { H2specCase } from './h2spec-report.ts';
import { readH2specReport } from './h2spec-report.ts';
import type { Verdict } from './h2spec-verdict.ts';
import { judgeH2spec } from './h2spec-verdict.ts';
import { anyContentPath } from './test-service.ts';
import { startTestServer } from './test-server.ts';

export interface H2specResult {
  readonly requests: RequestKind;
  readonly cases: readonly H2specCase[];
  readonly verdicts: readonly Verdict[];
}

/** How long the tool waits for the answer to one frame: a busy machine may be slow. */
const patienceSecs = '3';

/** Runs all tests of h2spec against the test service on Reeve's engine. `program` sends requests of that kind. */
export async function runH2spec(program: string, requests: RequestKind): Promise<H2specResult> {
  const server = await startTestServer('reeve', false);
  const folder = mkdtempSync(join(tmpdir(), 'reeve-h2spec-'));
  const report = join(folder, 'report.xml');
  try {
    const target = ['-h', '127.0.0.1', '-p', String(server.port), '-P', anyContentPath];
    const child = spawn(program, [...target, '-o', patienceSecs, '-j', report], { stdio: 'ignore' });
    endWithUs(child);
    await once(child, 'exit');
    const cases = readH2specReport(readFileSync(report, 'utf8'));
    return { requests, cases, verdicts: judgeH2spec(requests, cases, exceptions) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await server.stop();
  }
}
