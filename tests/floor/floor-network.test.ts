import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';
import { NetworkWorld, selfSigned } from './network-world.ts';

let world: NetworkWorld;
let port = 0;
const seen: string[] = [];
beforeAll(async () => {
  world = await NetworkWorld.start();
  port = await world.web('127.0.0.1', seen);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

describe.skipIf(!hasFloor)('the network of a floor', () => {
  test('plain requests, tunnels and SOCKS lead out, each as an operation with what has passed', async () => {
    const { stdout, stderr } = await world.sh(
      `curl -sS "http://127.0.0.1:${port}/plain?a=b" -d body; curl -sSp http://127.0.0.1:${port}/tunnel; curl -sS --socks5-hostname "$HTTP_PROXY" http://127.0.0.1:${port}/socks`,
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(/"url":"\/plain\?a=b","body":"body".*"url":"\/tunnel".*"url":"\/socks"/s);
    const [socks, tunnel, plain] = await world.connections();
    for (const op of [plain, tunnel, socks]) {
      expect(op).toMatchObject({ state: 'completing', resource: '127.0.0.1' });
    }
    expect(world.details()).toEqual([
      expect.stringMatching(/^sent=[1-9]\d* received=[1-9]\d*$/),
      expect.stringMatching(/^sent=[1-9]\d* received=[1-9]\d*$/),
      expect.stringMatching(/^sent=[1-9]\d* received=[1-9]\d*$/),
    ]);
    const asked = world.gateway.audit().map((entry) => JSON.stringify(entry));
    expect(asked.filter((text) => text.includes(`"port":${port},"protocol":"http"`)).length).toBe(1);
    expect(asked.filter((text) => text.includes(`"port":${port},"protocol":"tcp"`)).length).toBe(2);
  });

  test('programs find it by themselves', async () => {
    const script = `fetch('http://127.0.0.1:${port}/node').then((answer) => answer.json()).then(({ url }) => console.log(url))`;
    expect(await world.sh(`NODE_USE_ENV_PROXY=1 ${process.execPath} -e "${script}"`)).toMatchObject({
      stdout: '/node\n',
    });
    if (!existsSync('/usr/bin/python3')) return;
    const python = `import urllib.request as u, json; print(json.load(u.urlopen("http://127.0.0.1:${port}/python"))["url"])`;
    expect(await world.run(['/usr/bin/python3', '-c', python])).toMatchObject({ stdout: '/python\n' });
  });

  test('what is denied is refused with the reason, and reaches nobody', async () => {
    const before = seen.length;
    const { stdout } = await world.sh(
      'curl -sS -w " %{http_code}\\n" http://evil.test/; curl -sS -w "%{http_connect}\\n" https://evil.test/ 2>&1',
    );
    expect(stdout).toMatch(/^reeve run: denied by house\/no-evil: .*\n 403\n/);
    expect(stdout).toMatch(/403\n$/);
    const answer = await world.node(
      `const name = 'a.evil.test'; proxy(Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), Buffer.from(name), Buffer.from([0, 80])])).then((got) => console.log(got.toString('hex')))`,
    );
    expect(answer.stdout).toBe('050005020001000000000000\n');
    expect(seen.length).toBe(before);
  });

  test('the person is told of each destination that is denied, once', async () => {
    const { stderr } = await world.sh(
      'for each in 1 2 3; do curl -s http://evil.test/$each; done; curl -s https://evil.test/',
    );
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^reeve run: a connection to evil\.test port 80 is refused: denied by house\/no-evil: /),
      expect.stringMatching(/^reeve run: a connection to evil\.test port 443 is refused: denied by house\/no-evil: /),
    ]);
  });

  test('what needs an approval waits for it, and is called off when nobody waits any more', async () => {
    const other = await world.web('127.0.0.3');
    await using cli = world.begin(['curl', '-sS', `http://127.0.0.3:${other}/asked`]);
    await cli.says(/a connection to 127.0.0.3 port \d+ waits for an approval \(apr_/, 'stderr');
    const { body } = await world.gateway.api.get<{ items: { id: string; title: string }[] }>(
      '/api/v1/approvals?state=open',
      bootstrapKey,
    );
    await world.gateway.api.post(`/api/v1/approvals/${body.items[0]?.id}/approve`, bootstrapKey, { reason: '' });
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 0, stdout: expect.stringContaining('"url":"/asked"') });
    const late = await world.run(['curl', '-sS', '-m', '2', `http://127.0.0.3:${other}/late`]);
    expect(late.code).toBe(28);
    const never = await world.run(['curl', '-sS', `http://127.0.0.3:${other}/never`], {
      flags: ['--approval-wait', '1'],
    });
    expect(never.stdout).toMatch(/^reeve run: still waiting for an approval \(apr_/);
    const states = (await world.connections())
      .filter(({ resource }) => resource === '127.0.0.3')
      .map(({ state }) => state);
    expect(states).toEqual(['terminated', 'terminated', 'completing']);
  });

  test('TLS is for the name that was checked, and for no other', async () => {
    const secure = createSecureServer(selfSigned('localhost'), (socket) => socket.end('secret'));
    const tlsPort = await world.listen(secure);
    const ask = (servername: string) => `
      tunnel('localhost:${tlsPort}').then((socket) => {
        const inner = tls.connect({ socket, rejectUnauthorized: false${servername} });
        let text = '';
        inner.on('data', (chunk) => (text += chunk)).on('error', () => {}).on('close', () => console.log('got', text));
      });`;
    expect((await world.node(ask(", servername: 'localhost'"))).stdout).toBe('got secret\n');
    const other = await world.node(ask(", servername: 'example.com'"));
    expect(other.stdout).toBe('got \n');
    expect(other.stderr).toContain('was cut: TLS for the server name example.com, where localhost was checked');
    const none = await world.node(ask(''));
    expect(none.stdout).toBe('got \n');
    expect(none.stderr).toContain('was cut: TLS without a server name');
    expect(world.details().filter((detail) => detail.startsWith('sent=0 received=0; TLS')).length).toBe(4);
  });

  test('there is no other way: no names, no packets, nothing of this machine', async () => {
    const { stdout } = await world.sh(`
      getent hosts example.com || echo no names
      curl -sS --noproxy '*' -m 5 http://127.0.0.1:${port}/ 2>/dev/null || echo no way
      curl -sS --noproxy '*' -m 5 http://1.1.1.1/ 2>/dev/null || echo no way
      perl -MSocket -e 'print socket(my $s, AF_INET, SOCK_RAW, 1) ? "raw" : "no raw", "\\n"'
      perl -MSocket -e 'print socket(my $s, AF_INET, SOCK_DGRAM, 0) && send($s, "x", 0, pack_sockaddr_in(53, inet_aton("8.8.8.8"))) ? "sent" : "no packets", "\\n"'
      perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 1); print send($s, "\\x08\\0\\0\\0\\0\\0\\0\\0", 0, pack_sockaddr_in(0, inet_aton("8.8.8.8"))) ? "sent" : "no ping", "\\n"'`);
    expect(stdout).toBe('no names\nno way\nno way\nno raw\nno packets\nno ping\n');
  });

  test('a request that two readers could read differently is refused, and reaches nobody', async () => {
    const before = seen.length;
    const head = (line: string, ...headers: string[]) =>
      [line, `Host: 127.0.0.1:${port}`, ...headers, '', ''].join('\r\n');
    const post = `POST http://127.0.0.1:${port}/smuggled HTTP/1.1`;
    const get = `GET http://127.0.0.1:${port}/smuggled HTTP/1.1`;
    const requests = [
      `${head(post, 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      `${head(post, 'Content-Length: 5', 'Content-Length: 6')}hello!`,
      `${head(post, 'Content-Length: 5, 5')}hello`,
      `${head(post, 'Content-Length: +5')}hello`,
      `${head(post, 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
      `${head(post, 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
      `${head(post, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`,
      `${head(post, 'Transfer-Encoding:\u000bchunked')}0\r\n\r\n`,
      head(get, 'X-Folded: a\r\n b'),
      head(get, 'X-Bare: a\nX-Other: b'),
      head(get, 'X-Bare: a\rb'),
      head(get, 'X Space: a'),
      head(get, 'X-Space : a'),
      head(get, 'X-Null: a\0b'),
      `GET http://127.0.0.1:${port}/smuggled HTTP/1.1\nHost: a\n\n`,
      head(get, 'Host: other.example'),
      head('GET /smuggled HTTP/1.1'),
      head('GET https://127.0.0.1/smuggled HTTP/1.1'),
      head(`GET http://user@127.0.0.1:${port}/smuggled HTTP/1.1`),
      head(`GET http://127.0.0.1:${port}\\@evil.test/smuggled HTTP/1.1`),
      head(`GET http://evil.test%2f@127.0.0.1:${port}/smuggled HTTP/1.1`),
      head(`GET http://[::1/smuggled HTTP/1.1`),
      head(`CONNECT 127.0.0.1 HTTP/1.1`),
      head(`CONNECT 127.0.0.1:0 HTTP/1.1`),
      head(`CONNECT 127.0.0.1:${port} HTTP/1.1`, 'Content-Length: 5'),
      head(`CONNECT 127.0.0.1:${port}/x HTTP/1.1`),
      head(get, `X-Long: ${'a'.repeat(70_000)}`),
    ];
    world.write('project/requests.json', JSON.stringify(requests));
    const { stdout, stderr } = await world.node(`
      (async () => {
        for (const request of JSON.parse(require('node:fs').readFileSync('requests.json'))) {
          const answer = String(await proxy(request));
          console.log(answer.slice(0, 12), (answer.split('\\r\\n\\r\\n')[1] ?? '').trim());
        }
      })();`);
    expect(stderr).toBe('');
    const answers = stdout.trim().split('\n');
    expect(answers.length).toBe(requests.length);
    for (const [at, answer] of answers.entries()) expect(answer, requests[at]).toMatch(/^HTTP\/1.1 400 reeve run: \S/);
    expect(seen.length).toBe(before);
  });

  test('each request of a kept connection is asked for by its own host, and written anew', async () => {
    const request = (host: string, ...headers: string[]) =>
      [`GET http://${host}/next HTTP/1.1`, 'Host: forged.example', ...headers, '', ''].join('\r\n');
    const both = request(
      `127.0.0.1:${port}`,
      'Connection: keep-alive, X-Drop',
      'X-Drop: 1',
      'Proxy-Authorization: Basic x',
      'X-Keep: 1',
    );
    const { stdout } = await world.node(
      `proxy(${JSON.stringify(both + request('evil.test') + request(`127.0.0.1:${port}`))}).then((got) => console.log(String(got)))`,
    );
    expect(stdout).toMatch(/200 OK.*403 Forbidden/s);
    const headers = (JSON.parse(/^\{.*\}/m.exec(stdout)?.[0] ?? '{}') as { headers: string[] }).headers;
    expect(headers).toEqual(['Host', `127.0.0.1:${port}`, 'X-Keep', '1', 'Connection', 'close']);
  });

  test('a body with bad chunks ends the request', async () => {
    const { stdout } = await world.node(
      `proxy('POST http://127.0.0.1:${port}/chunks HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\nzz\\r\\n').then((got) => console.log(String(got).slice(0, 12)))`,
    );
    expect(stdout).not.toContain('200');
  });
});

describe.skipIf(!hasFloor)('addresses that no rule names', () => {
  let plain: FloorWorld;
  let local = 0;
  const server = createServer((socket) => socket.on('error', () => {}).end('reached'));
  beforeAll(async () => {
    plain = await FloorWorld.start();
    local = await world.listen(server);
  });
  afterAll(async () => {
    await plain[Symbol.asyncDispose]();
  });

  test('are refused in all their spellings, and behind any name', async () => {
    const hosts = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '169.254.169.254',
      '10.0.0.1',
      '100.64.0.1',
    ];
    const lines = hosts.map(
      (host) =>
        `curl -sS -g --noproxy '' -m 20 -o /dev/null -w "%{http_code} " http://${host}:${local}/; curl -sS -g -k --noproxy '' -m 20 -w "%{http_connect}\\n" https://${host}:${local}/ 2>/dev/null`,
    );
    const { stdout } = await plain.sh(lines.join('\n'));
    expect(stdout.trim().split('\n')).toEqual(hosts.map(() => '403 403'));
  });
});
