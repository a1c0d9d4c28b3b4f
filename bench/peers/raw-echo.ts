/** The path that the echoes serve, and the answer that they give, from the command line. */
export function echoOf(args: readonly string[]): { readonly path: string; readonly answer: Buffer } {
  return { path: '/reeve.v1.PolicyService/CheckAction', answer: Buffer.from(args[2] ?? '', 'hex') };
}

export function tellListening(port: number): void {
  process.stdout.write(`${JSON.stringify({ event: 'listening', grpc: `127.0.0.1:${port}` })}\n`);
}
