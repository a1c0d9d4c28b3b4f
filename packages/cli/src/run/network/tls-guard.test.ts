import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { serverNameOf } from './client-hello.ts';
import { TlsGuard } from './tls-guard.ts';

/** What Node says first for a server name. */
async function helloFor(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({ read: () => {}, write: (chunk: Buffer) => resolve(chunk) });
    connect({ socket: wire, ...(servername === '' ? {} : { servername }) }).on('error', () => {});
  });
}

const guardOf = (host: string, protocol: 'https' | 'tcp' = 'https') => new TlsGuard({ host, port: 443, protocol });
const messageIn = (record: Buffer) => record.subarray(5);
const recordOf = (content: Buffer, type = 22) =>
  Buffer.concat([Buffer.from([type, 3, 1, content.length >> 8, content.length & 255]), content]);
const mark = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');
const answerWith = (random: Buffer) =>
  recordOf(Buffer.concat([Buffer.from([2, 0, 0, 34 + 4, 3, 3]), random, Buffer.alloc(4)]));
const asksAgain = answerWith(mark);
const goesOn = answerWith(Buffer.alloc(32, 7));

describe('the server name of a hello', () => {
  test('is read as the client wrote it', async () => {
    expect(serverNameOf(messageIn(await helloFor('Example.com')))).toBe('example.com');
    expect(serverNameOf(messageIn(await helloFor('')))).toBeNull();
  });

  test('is not guessed: cut at any place, or doubled, it is none', async () => {
    const hello = messageIn(await helloFor('example.com'));
    for (let end = 0; end < hello.length; end++) expect(serverNameOf(hello.subarray(0, end))).toBeUndefined();
    const name = Buffer.from('00000010000e00000b6578616d706c652e636f6d', 'hex');
    expect(hello.includes(name)).toBe(true);
    const body = hello.subarray(4);
    const idEnd = 34 + 1 + (body[34] ?? 0);
    const suitesEnd = idEnd + 2 + body.readUInt16BE(idEnd);
    const at = suitesEnd + 1 + (body[suitesEnd] ?? 0);
    const extensions = Buffer.concat([body.subarray(at + 2), name]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(extensions.length);
    const doubled = Buffer.concat([body.subarray(0, at), length, extensions]);
    const header = Buffer.from([1, 0, doubled.length >> 8, doubled.length & 255]);
    expect(serverNameOf(Buffer.concat([header, doubled]))).toBeUndefined();
  });
});

describe('a tunnel', () => {
  test('passes with the name that was checked, byte by byte and in any pieces', async () => {
    const hello = await helloFor('example.com');
    for (const size of [1, 3, 5, 100, hello.length]) {
      const guard = guardOf('example.com');
      const passed: Buffer[] = [];
      for (let at = 0; at < hello.length; at += size) {
        if (at + size < hello.length) expect(Buffer.concat(passed).length).toBe(0);
        passed.push(guard.fromClient(hello.subarray(at, at + size)));
      }
      expect(Buffer.concat(passed)).toEqual(hello);
    }
    const message = messageIn(hello);
    const pieces = Buffer.concat([
      recordOf(message.subarray(0, 2)),
      recordOf(message.subarray(2, 90)),
      recordOf(message.subarray(90)),
    ]);
    expect(guardOf('example.com').fromClient(pieces)).toEqual(pieces);
  });

  test('is cut for another name, or none', async () => {
    const hello = await helloFor('example.com');
    expect(() => guardOf('example.org').fromClient(hello)).toThrow(
      'TLS for the server name example.com, where example.org',
    );
    expect(() => guardOf('example.org', 'tcp').fromClient(hello)).toThrow('server name');
    expect(() => guardOf('1.1.1.1').fromClient(hello)).toThrow('server name');
    const nameless = await helloFor('');
    expect(() => guardOf('example.com').fromClient(nameless)).toThrow('without a server name');
    expect(guardOf('1.1.1.1').fromClient(nameless)).toEqual(nameless);
  });

  test('that was checked as https begins as TLS; another may be anything', () => {
    expect(() => guardOf('example.com').fromClient(Buffer.from('GET / HTTP/1.1\r\n'))).toThrow('does not begin as TLS');
    const other = guardOf('example.com', 'tcp');
    expect(other.fromClient(Buffer.from('SSH-2.0-x\r\n')).toString()).toBe('SSH-2.0-x\r\n');
    expect(other.isDone).toBe(true);
  });

  test('may hide no other hello behind a first one', async () => {
    const [hello, other] = [await helloFor('example.com'), await helloFor('evil.com')];
    const early = recordOf(Buffer.alloc(100, 1), 23);
    const change = recordOf(Buffer.from([1]), 20);
    const again = () => {
      const guard = guardOf('example.com');
      guard.fromClient(Buffer.concat([hello, change, early]));
      for (const byte of asksAgain) guard.fromServer(Buffer.from([byte]));
      return guard;
    };
    expect(() => again().fromClient(other)).toThrow('server name evil.com');
    expect(() => again().fromClient(Buffer.concat([change, early, other]))).toThrow('server name evil.com');
    expect(again().fromClient(Buffer.concat([change, hello]))).toEqual(Buffer.concat([change, hello]));
    expect(() => guardOf('example.com').fromClient(Buffer.concat([hello, other]))).toThrow(
      'before the server has answered',
    );
    const plain = guardOf('example.com');
    plain.fromClient(hello);
    plain.fromServer(goesOn);
    expect(plain.isDone).toBe(true);
  });

  test('loses nothing that it holds when the server answers meanwhile, wherever a read has cut it', async () => {
    const hello = await helloFor('example.com');
    const more = Buffer.concat([recordOf(Buffer.from([1]), 20), recordOf(Buffer.alloc(20, 1), 23)]);
    for (let cut = 0; cut < more.length; cut++) {
      const guard = guardOf('example.com');
      const passed = [guard.fromClient(hello), guard.fromClient(more.subarray(0, cut))];
      guard.fromServer(goesOn);
      passed.push(guard.fromClient(more.subarray(cut)), guard.fromClient(more));
      expect(Buffer.concat(passed)).toEqual(Buffer.concat([hello, more, more]));
      expect(guard.isDone).toBe(true);
      expect(() => guard.end()).not.toThrow();
    }
  });

  test('does not wait for ever, nor take what is no hello', async () => {
    const hello = messageIn(await helloFor('example.com'));
    const dust = Buffer.concat([...hello.subarray(0, 40)].map((byte) => recordOf(Buffer.from([byte]))));
    expect(() => guardOf('example.com').fromClient(dust)).toThrow('too many pieces');
    expect(() => guardOf('example.com').fromClient(recordOf(Buffer.from([1, 1, 0, 0])))).toThrow('too long');
    expect(() => guardOf('example.com').fromClient(recordOf(Buffer.from([16, 0, 0, 1, 0])))).toThrow(
      'does not begin with a hello',
    );
    expect(() => guardOf('example.com').fromClient(Buffer.from([22, 3, 1, 0, 0]))).toThrow('goes on otherwise');
    expect(() => guardOf('example.com').fromClient(Buffer.from([22, 9, 1, 0, 4, 1, 0, 0, 0]))).toThrow(
      'goes on otherwise',
    );
    const half = guardOf('example.com');
    half.fromClient(Buffer.from([22, 3]));
    expect(() => half.end()).toThrow('ended within');
  });

  test('a warning of the server does not open it: the second hello is still read', async () => {
    const warning = recordOf(Buffer.from([1, 112]), 21);
    for (const pieces of [[warning], [warning.subarray(0, 3), warning.subarray(3)], [warning, warning]]) {
      const guard = guardOf('example.com');
      guard.fromClient(await helloFor('example.com'));
      for (const piece of pieces) guard.fromServer(piece);
      guard.fromServer(asksAgain);
      const other = await helloFor('evil.test');
      expect(() => guard.fromClient(other)).toThrow(/evil\.test/);
    }
  });
});
