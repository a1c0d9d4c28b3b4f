import { UsageError } from '../cli-error.ts';
import { codeOf } from '../context/private-file.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

// As in private-file.ts: this takes less time than importing node:fs.
const { readFileSync, statSync } = process.getBuiltinModule('node:fs');

export const defaultGrpcAddress = '127.0.0.1:50051';

/** Where gateways answer agents, for `connect` of the SDK. */
export interface GrpcGateway {
  /** One or more. */
  readonly addresses: readonly string[];
  /** Undefined if the addresses say it: plain text on this machine, TLS by the authorities of the system elsewhere. */
  readonly tls: { readonly ca: string } | undefined;
}

/** As typed. */
export interface GatewayFlags {
  readonly grpcAddr?: string | undefined;
  readonly grpcCa?: string | undefined;
}

const mostBytes = 1024 * 1024;

/**
 * By `--grpc-addr`, else REEVE_GRPC_ADDR, else on this machine; several are separated by commas. With `--grpc-ca`, else
 * REEVE_GRPC_CA, by TLS, and only with certificates of these authorities.
 */
export function grpcGateway(shell: Pick<Shell, 'env'>, { grpcAddr, grpcCa }: GatewayFlags): GrpcGateway {
  const gateway = { addresses: addressesOf(shell, grpcAddr), tls: tlsOf(shell, grpcCa) };
  if (gateway.tls !== undefined && gateway.addresses.some((address) => address.startsWith('unix:'))) {
    throw new UsageError('--grpc-ca is for gateways at HOST:PORT; a socket of this machine has no certificate');
  }
  return gateway;
}

function addressesOf(shell: Pick<Shell, 'env'>, flag: string | undefined): readonly string[] {
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

function tlsOf(shell: Pick<Shell, 'env'>, flag: string | undefined): GrpcGateway['tls'] {
  const source = flag === undefined ? 'REEVE_GRPC_CA' : '--grpc-ca';
  const path = flag ?? variable(shell, 'REEVE_GRPC_CA');
  if (path === undefined) return undefined;
  let ca: string;
  try {
    if (statSync(path).size > mostBytes) throw new UsageError(`${source}: ${path} is too long`);
    ca = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${source}: cannot read ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
  // Without a certificate in it, the authorities of the system would count.
  if (ca.includes('-----BEGIN CERTIFICATE-----')) return { ca };
  throw new UsageError(`${source}: ${path} holds no certificate in PEM`);
}
