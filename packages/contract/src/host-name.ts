/** The WHATWG URL parser, which every platform has. The contract compiles without a platform's types. */
declare const URL: {
  canParse(text: string): boolean;
  new (text: string): { readonly hostname: string };
};

/**
 * The host of an authority such as a `Host` header, without its port, as the URL standard writes it; undefined if there
 * is none. It is in lower case, with international names as ASCII, canonical addresses, IPv4 unwrapped from IPv6, and
 * no final dot: `LOCALHOST.:80` and `localhost` are the same.
 */
export function hostOfAuthority(authority: string): string | undefined {
  if (authority === '' || /[\s/?#@\\]/.test(authority)) return undefined;
  const text = `http://${authority}`;
  if (!URL.canParse(text)) return undefined;
  return withoutMapping(new URL(text).hostname.replace(/(?<=.)\.$/, ''));
}

/** The address of a socket, in the form of `hostOfAuthority`. */
export function hostOfAddress(address: string): string | undefined {
  const [bare = ''] = address.split('%');
  return (bare.includes(':') ? hostOfAuthority(`[${bare}]`) : undefined) ?? hostOfAuthority(bare);
}

/** A host without the brackets that a URL, or a header, puts around an IPv6 address. Sockets want it like this. */
export function bareHost(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/**
 * Whether a name, or an address without brackets, always means this machine. Names below `localhost` do not: not every
 * resolver keeps them local. Nor do other spellings of an address, such as `0x7f.1`: not everybody reads them alike.
 */
export function isLoopback(host: string): boolean {
  if (host.includes(':')) return /^(\[::1\]|127\.[\d.]+)$/.test(hostOfAuthority(`[${host}]`) ?? '');
  if (/^127\.[\d.]+$/.test(host)) return hostOfAuthority(host) === host;
  return /^localhost\.?$/i.test(host);
}

interface UrlParts {
  readonly protocol: string;
  readonly hostname: string;
}

/** Whether a URL always means this machine. */
export function isOwnMachine({ hostname }: Pick<UrlParts, 'hostname'>): boolean {
  return isLoopback(bareHost(hostname));
}

/** Whether secrets may go there, and what comes from there is what its owner has sent: https, or within this machine. */
export function isSecureUrl(url: UrlParts): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isOwnMachine(url));
}

/** Whether the address of a server (`host:port`, or `unix:` and a path) is of this machine, so that plain text stays here. */
export function isLocalAddress(address: string): boolean {
  if (address.startsWith('unix:')) return true;
  const host = address.replace(/:\d+$/, '');
  return isLoopback(/^\[([^\]:]*:[^\]]*)\]$/.exec(host)?.[1] ?? host);
}

/** `[::ffff:7f00:1]` is an IPv4 address within IPv6. */
function withoutMapping(host: string): string {
  const match = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host);
  if (match === null) return host;
  const bits = (Number.parseInt(match[1] ?? '', 16) << 16) | Number.parseInt(match[2] ?? '', 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}
