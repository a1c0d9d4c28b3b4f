import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endWithUs } from '../../harness/end-with-us.ts';
import type { InteropCase, Tell } from '../interop-cases.ts';
import { caseWithinMs, interopCases } from '../interop-cases.ts';
import type { TestServer } from '../test-server.ts';

/** Runs a client that takes port, certificate and cases, and prints a line of JSON for each case. */
export async function runLineClient(
  [program = '', ...before]: readonly string[],
  { port, certificate }: Pick<TestServer, 'port' | 'certificate'>,
  tell: Tell,
): Promise<void> {
  const args = [...before, String(port), certificate ?? '', ...interopCases];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  endWithUs(child);
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-2000);
  });
  const ended = once(child, 'close');
  const force = setTimeout(() => child.kill('SIGKILL'), caseWithinMs * 4);
  const open = new Set<InteropCase>(interopCases);
  for await (const line of createInterface({ input: child.stdout })) {
    const { name, failure } = JSON.parse(line) as { name: InteropCase; failure: string | null };
    open.delete(name);
    tell(name, failure ?? undefined);
  }
  await ended;
  clearTimeout(force);
  for (const name of open) tell(name, `no result: ${complaints.trim().split('\n').at(-1) ?? ''}`);
}
