import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildDashboard } from '../../scripts/build-dashboard.ts';
import { TestGateway } from '../harness/gateway.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

describe('the files of the dashboard', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    buildDashboard();
    gateway = await TestGateway.start({ env: { SVC_RATE_LIMIT_PUBLIC_PER_MIN: '40' } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    fetch(`${gateway.http}${path}`, { method, headers });
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  async function script(): Promise<string> {
    const page = await (await get('/')).text();
    return /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
  }

  test('the page is at the root, is asked for anew each time, and allows only files of its own', async () => {
    const answer = await get('/', html);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('content-security-policy')).toBe(policy);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const page = await answer.text();
    expect(page).toContain('<div id="root">');
    expect(page).not.toMatch(/<style|style=|<script>|onload=/);
    const again = await get('/', { ...html, 'if-none-match': answer.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test.each(['/ops', '/ops?state=running', '/approvals', '/topology', '/audit', '/budgets', '/policies'])(
    '%s is the same page, which looks at the address itself',
    async (path) => {
      const answer = await get(path, html);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    },
  );

  test.each(['/identity', '/sign-in', '/invite', '/reset', '/forgot'])('so is %s', async (path) => {
    expect((await get(path)).status).toBe(200);
  });

  test('scripts have their content in their name: they are kept for ever, and compressed', async () => {
    const path = await script();
    const plain = await get(path, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'accept-encoding']);
    const text = await plain.text();
    for (const encoding of ['br', 'gzip']) {
      const small = await get(path, { 'accept-encoding': encoding });
      expect(small.headers.get('content-encoding')).toBe(encoding);
      expect(Number(small.headers.get('content-length'))).toBeLessThan(text.length / 2);
      expect(await small.text()).toBe(text);
    }
  });

  test('HEAD says the same without a body', async () => {
    const [asked, told] = [await get('/', html), await get('/', html, 'HEAD')];
    expect([told.status, await told.text()]).toEqual([200, '']);
    expect(told.headers.get('etag')).toBe(asked.headers.get('etag'));
  });

  test('what is not there is a problem: API paths, files, and pages for programs', async () => {
    for (const [path, accept] of [
      ['/api/v1/nothing', html.accept],
      ['/api', html.accept],
      ['/nothing', '*/*'],
      ['/nothing', 'application/json, text/html'],
      ['/assets/nothing.js', '*/*'],
      ['/assets/..%2findex.html', '*/*'],
      ['/.inputs', '*/*'],
      ['/index.html/', '*/*'],
      ['/ops', 'application/json'],
    ] as const) {
      const answer = await get(path, { accept });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json',
      ]);
      expect(await answer.json()).toMatchObject({ code: 'not_found', status: 404 });
    }
  });

  test('a browser gets a page for what is not there, with status 404: mistyped pages, files and folders', async () => {
    for (const path of [
      '/nothing',
      '/ops/nothing',
      '/policies/a%2Fb',
      '/opps?state=running',
      '/assets/nothing.js',
      '/apis',
    ]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await get(path, html, method);
        const told = [answer.status, answer.headers.get('content-type'), answer.headers.get('content-security-policy')];
        expect([path, ...told]).toEqual([path, 404, 'text/html; charset=utf-8', policy]);
        expect([answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual(['no-store', null]);
        expect((await answer.text()).includes('<div id="root">')).toBe(method === 'GET');
      }
    }
    const sent = await get('/nothing', html, 'POST');
    expect([sent.status, sent.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });

  test('a page takes no other method', async () => {
    for (const path of ['/', '/ops']) {
      const answer = await get(path, html, 'POST');
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' });
    }
  });

  test('a page that needs many files does not use up the limit of public calls', async () => {
    const path = await script();
    const statuses = new Set<number>();
    for (let i = 0; i < 60; i++) statuses.add((await get(i % 2 === 0 ? path : '/ops', html)).status);
    expect([...statuses]).toEqual([200]);
    expect((await get('/api/v1/auth/methods')).status).toBe(200);
  });
});
