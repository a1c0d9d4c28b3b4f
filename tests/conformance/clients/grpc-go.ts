import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { InteropClient } from '../interop-cases.ts';
import { caseWithinMs, interopCases } from '../interop-cases.ts';
import { goTool } from '../tools.ts';

const run = promisify(execFile);

/** The interop client of grpc-go itself. It runs one case and exits. */
export const grpcGoClient: InteropClient = {
  name: 'grpc-go',
  prepare: (say) => goTool('google.golang.org/grpc/interop/client', 'google.golang.org/grpc', say),
  run: async (program, { port, certificate }, tell) => {
    const target = ['-server_host', '127.0.0.1', '-server_port', String(port)];
    const secure =
      certificate === undefined
        ? []
        : ['-use_tls', '-use_test_ca', '-ca_file', certificate, '-server_host_override', 'localhost'];
    for (const name of interopCases) {
      try {
        await run(program, [...target, ...secure, '-test_case', name], { timeout: caseWithinMs });
        tell(name, undefined);
      } catch (error) {
        tell(name, lastLineOf(error));
      }
    }
  },
};

function lastLineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = 'stderr' in error ? String(error.stderr).trim() : '';
  return stderr === '' ? `no result within ${caseWithinMs / 1000} s` : (stderr.split('\n').at(-1) ?? stderr);
}
