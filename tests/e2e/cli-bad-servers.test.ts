import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import type { FakeAnswer } from '../harness/fake-server.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const key = 'a-key-that-must-not-be-seen';

/** Every kind of command that calls: login by itself, and one that uses the client. */
const commands = [['login'], ['ops', 'list']] as const;

async function tryAll(url: string, expected: RegExp, more: readonly string[] = []): Promise<void> {
  for (const command of commands) {
    using home = new TestHome();
    const { code, stdout, stderr } = await home.run([...command, '--api-url', url, '--api-key', key, ...more]);
    expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toMatch(expected);
    expect(stderr).not.toContain(key);
    expect(stderr).not.toMatch(/ {4}at .*\.ts:/);
    expect(home.sessions()).toEqual({});
  }
}

test('a server that hangs is given up after the timeout', async () => {
  await using server = await FakeServer.start(() => undefined);
  await tryAll(server.url, /does not answer: no answer within 1 s/, ['--timeout', '1']);
});

test('what takes more than a second shows on a terminal that it does', async () => {
  await using server = await FakeServer.start((_, response) => {
    setTimeout(() => response.writeHead(200).end('{"items":[],"next_cursor":null,"total":0}'), 2500);
    return undefined;
  });
  using home = new TestHome();
  await using cli = home.startOnTerminal(['ops', 'list', '--api-url', server.url]);
  await cli.says(/Waiting for http:\/\/127\.0\.0\.1:\d+ \(\d s\)/);
  await cli.ended();
  expect(cli.stdout.replaceAll('\r', '')).toContain('\u001b[2KNo operations.\n');
  const { stderr } = await home.run(['ops', 'list', '--api-url', server.url]);
  expect(stderr).toBe('');
});

test('a server that begins an answer and then hangs is given up, too', async () => {
  await using server = await FakeServer.start((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"items":');
    return undefined;
  });
  await tryAll(server.url, /does not answer: no answer within 1 s/, ['--timeout', '1']);
});

test.each<[string, FakeAnswer, RegExp]>([
  [
    'a page of HTML with 200',
    { body: '<html>Welcome</html>', headers: { 'content-type': 'text/html' } },
    /Is that the URL of a gateway\?/,
  ],
  [
    'a page of HTML with 500',
    { status: 500, body: '<html>Oops</html>', headers: { 'content-type': 'text/html' } },
    /answered 500 without saying why/,
  ],
  ['a page of HTML with 404', { status: 404, body: '<html>Not here</html>' }, /answered 404 without saying why/],
  ['500 without a body', { status: 500 }, /answered 500/],
  [
    'a problem',
    { status: 500, json: { status: 500, code: 'internal', detail: 'something broke' } },
    /error: something broke/,
  ],
  [
    '503',
    { status: 503, json: { status: 503, code: 'store_unavailable', detail: 'the store is away' } },
    /the store is away Try again later\./,
  ],
  ['JSON that is no object', { json: 7 }, /Is that the URL of a gateway\?/],
  ['null', { body: 'null', headers: { 'content-type': 'application/json' } }, /Is that the URL of a gateway\?/],
  ['an object without what is needed', { json: { hello: 'world' } }, /Is that the URL of a gateway\?/],
  ['nothing, with 204', { status: 204 }, /Is that the URL of a gateway\?/],
])('%s is an error in one line', async (_what, answer, expected) => {
  await using server = await FakeServer.start(() => answer);
  await tryAll(server.url, expected);
});

test.each([
  ['of an announced length', { 'content-length': '5000' }],
  ['of no announced length', {}],
])('half a body %s is no answer', async (_what, headers) => {
  await using server = await FakeServer.start((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write('{"token": "half.of.it", "items": [');
    setTimeout(() => response.destroy(), 50);
    return undefined;
  });
  await tryAll(server.url, /broke the connection off/);
});

test('a connection that is closed without an answer is no answer', async () => {
  await using server = await FakeServer.start((_, response) => void response.destroy());
  await tryAll(server.url, /broke the connection off/);
});

test.each([301, 302, 303, 307, 308])(
  'a redirect with %s is not followed: no credential goes to another host',
  async (status) => {
    await using other = await FakeServer.start(() => ({ json: { items: [], next_cursor: null, total: 0 } }));
    await using server = await FakeServer.start(({ path }) => ({
      status,
      headers: { location: `${other.url}${path}` },
    }));
    await tryAll(server.url, /redirects to http:\/\/127\.0\.0\.1:\d+\/.*Redirects are not followed/);
    expect(other.seen).toEqual([]);
  },
);

test('a session is not sent to where a redirect leads, either', async () => {
  await using other = await FakeServer.start(() => ({ json: { items: [], next_cursor: null, total: 0 } }));
  await using server = await FakeServer.start(() => ({ status: 307, headers: { location: other.url } }));
  using home = new TestHome();
  const session = { token: 'a.b.c', expires_at: 1_900_000_000, scopes: ['read'], source_key: key, api_url: server.url };
  home.writeCredentials({ sessions: { [server.url]: session } });
  const { code } = await home.run(['ops', 'list', '--api-url', server.url]);
  expect(code).toBe(1);
  expect(server.seen).toHaveLength(1);
  expect(other.seen).toEqual([]);
});

test('what a server says reaches no terminal with control characters in it', async () => {
  const nasty = 'bad\u001b[2J\u0007\u009b31m \u202egnihton\r\nsecond';
  await using server = await FakeServer.start(() => ({
    status: 422,
    json: {
      status: 422,
      code: 'validation_failed',
      detail: nasty,
      errors: [{ pointer: '/a\u001b', detail: 'x\u0000' }],
    },
  }));
  using home = new TestHome();
  const { stderr } = await home.run(['ops', 'list', '--api-url', server.url, '--api-key', key]);
  // oxlint-disable-next-line no-control-regex
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(stderr).toContain('bad[2J31m <U+202E>gnihton');
  expect(stderr).toContain('/a: x');
});

describe('tables and data', () => {
  const label = 'A\u001b[31mB\u0007C\u009bD\u202eE\nF';
  const record = {
    id: 'abcdefghijkl',
    label,
    scopes: ['read'],
    org_id: null,
    team_id: null,
    created_at: '2026-11-15T00:00:00.000Z',
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  };
  let server: FakeServer;
  beforeAll(async () => {
    server = await FakeServer.start(() => ({ json: { items: [record, {}], next_cursor: null, total: 2 } }));
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('have no control characters of the server in them', async () => {
    using home = new TestHome();
    const table = await home.run(['keys', 'list', '--api-url', server.url]);
    // oxlint-disable-next-line no-control-regex
    expect(table.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(table.stdout).toContain('A[31mBCD<U+202E>E F');
    expect(table.stdout.trimEnd().split('\n')).toHaveLength(3);
  });

  test.each(['json', 'yaml'])('in %s lose nothing, and show no control characters either', async (format) => {
    using home = new TestHome();
    const { stdout } = await home.run(['keys', 'list', '--api-url', server.url, '--output', format]);
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    const { parse } = await import('yaml');
    expect(parse(stdout)).toEqual({ items: [record, {}], next_cursor: null, total: 2 });
  });

  test('have colours on a terminal, and none where NO_COLOR is set', async () => {
    using home = new TestHome();
    await using coloured = home.startOnTerminal(['keys', 'list', '--api-url', server.url], { columns: 200 });
    await coloured.ended();
    expect(coloured.stdout).toContain('\u001b[1mID');
    await using plain = home.startOnTerminal(['keys', 'list', '--api-url', server.url], {
      columns: 200,
      env: { NO_COLOR: '1' },
    });
    await plain.ended();
    expect(plain.stdout).toContain('ID');
    expect(plain.stdout).not.toContain('\u001b[1m');
  });

  test('fit into the terminal', async () => {
    using home = new TestHome();
    await using narrow = home.startOnTerminal(['keys', 'list', '--api-url', server.url], {
      columns: 150,
      env: { NO_COLOR: '1' },
    });
    await narrow.ended();
    const widest = Math.max(...narrow.stdout.split('\r\n').map((line) => line.length));
    expect(widest).toBeLessThanOrEqual(150);
  });
});

describe('an address', () => {
  test('where nobody listens is said to be so', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    await tryAll(`http://127.0.0.1:${port}`, /the connection was refused\. Is the gateway running there\?/);
  });

  test('with a name that there is not is said to be so', async () => {
    await tryAll('http://nobody.invalid', /the name "nobody\.invalid" is not known|no way to it/);
  });

  test('that speaks something else is said to do so', async () => {
    const server = createServer((socket) => void socket.on('error', () => undefined).end('SSH-2.0-OpenSSH\r\n')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    try {
      await tryAll(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, /does not answer in HTTP/);
    } finally {
      server.close();
    }
  });
});

describe('TLS', () => {
  let folder: string;
  let gateway: TestGateway;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reeve-tls-'));
    const pem = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=reeve test',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-keyout',
        pem.key,
        '-out',
        pem.cert,
      ],
      { stdio: 'ignore' },
    );
    gateway = await TestGateway.start({
      args: ['--database', 'memory:'],
      env: { SVC_TLS_CERT: pem.cert, SVC_TLS_KEY: pem.key },
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  test('with a certificate that nobody vouches for is refused, and NODE_EXTRA_CA_CERTS mends it', async () => {
    await tryAll(gateway.http, /certificate is not trusted.*NODE_EXTRA_CA_CERTS/);
    using home = new TestHome();
    const env = { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') };
    const { code, stderr } = await home.run(['login', '--api-url', gateway.http, '--api-key', bootstrapKey], { env });
    expect([code, stderr]).toEqual([0, '']);
    expect((await home.run(['ops', 'list', '--api-url', gateway.http], { env })).code).toBe(0);
  });

  test('with a certificate for another name is refused', async () => {
    using home = new TestHome();
    const env = { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') };
    const url = gateway.http.replace('127.0.0.1', 'localhost');
    const { code, stderr } = await home.run(['ops', 'list', '--api-url', url], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('its certificate is not for "localhost"')]);
  });

  test('where there is none is said to fail, and so is HTTP where there is TLS', async () => {
    await using plain = await FakeServer.start(() => ({}));
    await tryAll(plain.url.replace('http:', 'https:'), /TLS failed.*needs http:/);
    await tryAll(gateway.http.replace('https:', 'http:'), /needs https|broke the connection off/);
  });
});
