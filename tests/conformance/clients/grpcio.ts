import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../../harness/end-with-us.ts';
import type { InteropCase, InteropClient } from '../interop-cases.ts';
import { caseWithinMs, interopCases } from '../interop-cases.ts';
import { pythonWith } from '../tools.ts';

const script = fileURLToPath(new URL('grpcio_client.py', import.meta.url));

/** grpcio, which is the C core under Python. One process runs all cases and prints a line for each. */
export const grpcioClient: InteropClient = {
  name: 'grpcio',
  prepare: (say) => pythonWith(['grpcio', 'grpcio-tools'], say),
  run: async (program, { port, certificate }, tell) => {
    const args = [script, String(port), certificate ?? '', ...interopCases];
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
  },
};
