import { startOnFreePort } from '../../bench/peers/free-port-server.ts';
import type { TestServer } from './test-server.ts';
import { certificate } from './test-server.ts';
import type { Tool } from './tools.ts';
import { goTool } from './tools.ts';

/** The interop server of grpc-go itself, for Reeve's own client. */
export function findGoServer(say: (line: string) => void): Promise<Tool> {
  return goTool('google.golang.org/grpc/interop/server', 'google.golang.org/grpc', say);
}

export async function startGoServer(program: string, secure: boolean): Promise<TestServer> {
  const tls = secure ? certificate() : undefined;
  const args = tls === undefined ? [] : ['-use_tls', '-tls_cert_file', tls.cert, '-tls_key_file', tls.key];
  const server = await startOnFreePort(undefined, (port) => [program, '-port', String(port), ...args]);
  const port = Number(server.grpc.split(':').at(-1));
  return { port, certificate: tls?.cert, stop: () => server.stop() };
}
