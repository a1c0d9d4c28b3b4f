import { isWildcard } from '../config/parsers.ts';
import type { Config } from '../config/settings.ts';

/**
 * Where agents reach the gateway: the configured address, or the one that gRPC listens on. A gateway that listens on
 * all addresses is reached under the host that the caller used for HTTP.
 */
export function grpcAddressFor(
  { publicGrpcAddr, grpcAddr }: Pick<Config, 'publicGrpcAddr' | 'grpcAddr'>,
  listening: string,
  host: string | undefined,
): string {
  if (publicGrpcAddr !== undefined) return publicGrpcAddr;
  // People paste the answer into shells. With SVC_ALLOWED_HOSTS=* a caller may name any host.
  const isPlain = host !== undefined && /^[\w.[\]:-]+$/.test(host);
  if (!isPlain || !isWildcard(grpcAddr.host)) return listening;
  return `${host}${listening.slice(listening.lastIndexOf(':'))}`;
}
