import { isLocalAddress } from '@reeve/contract/host-name';
import { ReeveInvalidRequest } from './errors.ts';

export interface TlsOptions {
  /** The trusted authorities, in PEM. The system's if left out. */
  readonly ca?: string | Buffer | undefined;
  /** The certificate and key of the client, in PEM, if the gateway asks for them. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** The name on the gateway's certificate, if it differs from the address. */
  readonly serverName?: string | undefined;
}

/** Where a gateway listens, and whether by TLS. */
export interface Endpoint {
  readonly address: string;
  readonly tls: TlsOptions | undefined;
}

interface AddressOptions {
  readonly address?: string | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly tls?: boolean | TlsOptions | undefined;
}

/** The gateways that the options name, each with its own TLS. */
export function endpointsOf({ address, addresses, tls }: AddressOptions): readonly Endpoint[] {
  if (addresses === undefined) {
    checkAddress('address', address);
    return [{ address, tls: tlsOf(address, tls) }];
  }
  if (address !== undefined) throw new ReeveInvalidRequest('addresses: give address or addresses, not both');
  return listOf(addresses).map((each) => ({ address: each, tls: tlsOf(each, tls) }));
}

/** The items may have spaces around them: lists often come from a text that was split at its commas. */
function listOf(addresses: readonly string[]): readonly string[] {
  if (!Array.isArray(addresses) || addresses.length === 0) {
    throw new ReeveInvalidRequest('addresses: must be a list of one or more host:port');
  }
  const seen = new Map<string, number>();
  // Unlike `map`, `Array.from` also visits the holes of a list.
  return Array.from(addresses, (item: unknown, index) => {
    const member = `addresses[${index}]`;
    const address = typeof item === 'string' ? item.trim() : item;
    checkAddress(member, address);
    const place = placeOf(address);
    const first = seen.get(place);
    if (first !== undefined) throw new ReeveInvalidRequest(`${member}: is the same as addresses[${first}]`);
    seen.set(place, index);
    return address;
  });
}

/** Keys and tokens travel with the calls. So plain text beyond this machine needs an explicit option. */
function tlsOf(address: string, tls: boolean | TlsOptions = !isLocalAddress(address)): TlsOptions | undefined {
  if (tls === false) return undefined;
  const options = tls === true ? {} : tls;
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new ReeveInvalidRequest('tls: cert and key belong together');
  }
  return options;
}

const hostAndPort = /^(\[[0-9a-f:.%]+\]|[^\s,:/[\]]+):(\d{1,5})$/i;

function checkAddress(member: string, address: unknown): asserts address is string {
  if (typeof address === 'string') {
    if (address.startsWith('unix:')) return;
    const port = Number(hostAndPort.exec(address)?.[2] ?? 0);
    if (port >= 1 && port <= 65_535) return;
  }
  const hint = typeof address === 'string' && address.includes(',') ? '; several go into addresses, one by one' : '';
  throw new ReeveInvalidRequest(`${member}: must be host:port, without a scheme, as "127.0.0.1:50051"${hint}`);
}

/** The same text for the same place. Names ignore case, and ports leading zeros; paths ignore nothing. */
function placeOf(address: string): string {
  const [, host, port] = hostAndPort.exec(address) ?? [];
  return host === undefined ? address : `${host.toLowerCase()}:${Number(port)}`;
}
