import { hash } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

/** One file of the dashboard, held in memory, because the files on disk may be rebuilt while the gateway runs. */
export class DashboardFile {
  readonly type: string;
  readonly etag: string;
  /** Whether the name holds a hash of the content. */
  readonly isImmutable: boolean;
  readonly #plain: Buffer;
  readonly #encoded = new Map<Encoding, Promise<Buffer>>();

  constructor(name: string, content: Buffer) {
    this.type = types[extname(name)] ?? 'application/octet-stream';
    this.etag = `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;
    this.isImmutable = name.startsWith('assets/');
    this.#plain = content;
  }

  /** Text shrinks; pictures are already compressed, and small files are not worth it. */
  get isCompressible(): boolean {
    return this.#plain.length > 1024 && /^(text|application)\/|\+xml/.test(this.type);
  }

  /** Compressed on first use, off the event loop, and kept. */
  content(encoding: Encoding | undefined): Buffer | Promise<Buffer> {
    if (encoding === undefined) return this.#plain;
    const known = this.#encoded.get(encoding);
    if (known !== undefined) return known;
    const made = compress[encoding](this.#plain);
    this.#encoded.set(encoding, made);
    return made;
  }
}

const compress: Readonly<Record<Encoding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) =>
    promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
    }),
  gzip: (content) => promisify(gzip)(content, { level: 9 }),
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Reads the built dashboard: its files by their path from its root, none if it is not built. */
export type DashboardSource = () => ReadonlyMap<string, Buffer>;

/** What is served of the dashboard; undefined if it is not built. */
export function dashboardOf(built: ReturnType<DashboardSource>): ReadonlyMap<string, DashboardFile> | undefined {
  if (!built.has('index.html')) return undefined;
  return new Map([...built].map(([name, content]) => [name, new DashboardFile(name, content)]));
}
