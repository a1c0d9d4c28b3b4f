import { UsageError } from '../cli-error.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

export const defaultGrpcAddress = '127.0.0.1:50051';

/** Where gateways answer agents: `--grpc-addr`, else REEVE_GRPC_ADDR, else this machine. Several are separated by commas. */
export function grpcAddresses(shell: Pick<Shell, 'env'>, flag: string | undefined): readonly string[] {
  const text = flag?.trim() ?? '';
  const given = text === '' ? variable(shell, 'REEVE_GRPC_ADDR') : text;
  const addresses = (given ?? defaultGrpcAddress).split(',').map((part) => part.trim());
  const source = text === '' ? 'REEVE_GRPC_ADDR' : '--grpc-addr';
  for (const address of addresses) {
    if (/^[^\s/]+:\d{1,5}$/.test(address) || address.startsWith('unix:')) continue;
    throw new UsageError(`${source} must be HOST:PORT, several separated by commas, not "${given}"`);
  }
  return addresses;
}
