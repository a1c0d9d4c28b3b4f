/** Where a server listens. */
export interface Target {
  /** For `:authority`. */
  readonly authority: string;
  readonly where: { readonly path: string } | { readonly host: string; readonly port: number };
}

const hostAndPort = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/;

/** Reads `host:port`, `[address]:port` or `unix:path`. */
export function targetOf(address: string): Target {
  if (address.startsWith('unix:')) {
    const path = address.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    return { authority: 'localhost', where: { path } };
  }
  const [, literal, name, port] = hostAndPort.exec(address) ?? [];
  const host = literal ?? name;
  if (host === undefined) throw new TypeError(`"${address}" is neither host:port nor unix:path`);
  return { authority: address, where: { host, port: Number(port) } };
}
