import { pages } from '@reeve/contract/pages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DashboardFile, Encoding } from './dashboard-files.ts';
import { HttpError } from './problem.ts';

const paths: ReadonlySet<string> = new Set(Object.values(pages));

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const unbuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Reeve</title></head>
<body><h1>The dashboard has not been built</h1>
<p>The gateway is running, and its API works: see <a href="/docs">the API reference</a>.</p>
<p>To build the dashboard, run <code>npm run dashboard</code> in the repository and start the gateway again.</p>
</body></html>
`;

/** Whether the dashboard answers a path. */
export function isPage(path: string): boolean {
  return paths.has(path);
}

type SendPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Sends the one document of all pages, which reads the address itself, and says so where nothing is. */
export function dashboardPage(files: ReadonlyMap<string, DashboardFile> | undefined): SendPage {
  const index = files?.get('index.html');
  return async (request, reply) => {
    if (index !== undefined) return sendFile(index, request, reply);
    return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(unbuilt);
  };
}

/**
 * Serves the dashboard at the root. Its files count against no limit: they cost nothing, and a page needs many at once.
 */
export function serveDashboard(app: FastifyInstance, files: ReadonlyMap<string, DashboardFile> | undefined): void {
  const page = dashboardPage(files);
  const sendPage: SendPage = async (request, reply) => {
    if (!wantsPage(request))
      throw new HttpError('not_found', `there is a page at ${request.url.split('?')[0]}, not JSON`);
    return page(request, reply);
  };
  const sendNamed = (name: string, request: FastifyRequest, reply: FastifyReply) => {
    const file = files?.get(name);
    if (file === undefined) throw new HttpError('not_found', `there is nothing at /${name}; see /docs`);
    return sendFile(file, request, reply);
  };
  for (const path of paths) app.get(path, sendPage);
  app.get<{ Params: { name: string } }>('/assets/:name', (request, reply) =>
    sendNamed(`assets/${request.params.name}`, request, reply),
  );
  for (const name of files?.keys() ?? []) {
    if (!name.startsWith('assets/')) app.get(`/${name}`, (request, reply) => sendNamed(name, request, reply));
  }
}

async function sendFile(file: DashboardFile, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  void reply.header('content-security-policy', policy);
  // Nobody keeps what is told of an address where nothing is.
  if (reply.statusCode === 404) return reply.type(file.type).send(await file.content(undefined));
  void reply.headers({
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  });
  if (isKnown(request.headers['if-none-match'], file.etag)) return reply.code(304).send();
  const encoding = file.isCompressible ? encodingFor(request.headers['accept-encoding']) : undefined;
  if (encoding !== undefined) void reply.header('content-encoding', encoding);
  return reply.type(file.type).send(await file.content(encoding));
}

/** A browser asks for HTML; a program that wants JSON gets a problem. */
function wantsPage({ headers: { accept } }: FastifyRequest): boolean {
  return accept === undefined || /text\/(html|\*)|\*\/\*/.test(accept);
}

function isKnown(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));
}

function encodingFor(header: string | string[] | undefined): Encoding | undefined {
  const offers = String(header ?? '')
    .split(',')
    .map((each) => each.split(';').map((part) => part.trim()));
  return (['br', 'gzip'] as const).find((encoding) =>
    offers.some(([name, weight = '']) => name === encoding && !/^q=0(\.0*)?$/.test(weight)),
  );
}
