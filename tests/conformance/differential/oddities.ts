import { gzipSync } from 'node:zlib';
import { framed } from '../../../packages/grpc-server/src/testkit/raw-client.ts';

type Fields = readonly (readonly [string, string])[];

/** What may be odd about the header of a call. */
const oddHeads = {
  'another content-type': set('content-type', 'application/json'),
  'no content-type': without('content-type'),
  'a suffix of the content-type': set('content-type', 'application/grpc+proto'),
  GET: set(':method', 'GET'),
  'no te': without('te'),
  'another te': set('te', 'gzip'),
  'no path': without(':path'),
  'no scheme': without(':scheme'),
  'an unknown method': set(':path', '/none/None'),
  'a capital in a name': and('X-a', '1'),
  'an unknown pseudo-header field': (usual) => [[':none', '1'], ...usual],
  'a pseudo-header field behind others': (usual) => and(':authority', 'localhost')(without(':authority')(usual)),
  'a field of the connection': and('connection', 'close'),
  'two paths': (usual) => [[':path', '/none/None'], ...usual],
  'NUL in a value': and('x-a', 'a\0b'),
  'white space around a value': and('x-a', ' a '),
  'an empty value': and('x-a', ''),
  'a timeout': and('grpc-timeout', '1H'),
  'a timeout without a unit': and('grpc-timeout', '1'),
  'a timeout of nine digits': and('grpc-timeout', '123456789S'),
  'a wrong content-length': and('content-length', '3'),
  'binary metadata that is not base64': and('x-a-bin', '*'),
  'an encoding that it does not use': and('grpc-encoding', 'gzip'),
  'a compressed message': and('grpc-encoding', 'gzip'),
} as const satisfies Record<string, (usual: Fields) => Fields>;

/** What may be odd about its messages. */
const oddBodies = {
  'no message': () => Buffer.alloc(0),
  'two messages': (message) => Buffer.concat([framed(message), framed(message)]),
  'a message that is cut off': (message) => framed(message, message.length + 1),
  'a prefix that is cut off': (message) => framed(message).subarray(0, 3),
  'a compressed message': (message) => flagged(gzipSync(message)),
  'a compressed message without an encoding': flagged,
  'a message over the limit': (message) => framed(message, 5_000_000),
} as const satisfies Record<string, (message: Uint8Array) => Buffer>;

export type Oddity = keyof typeof oddHeads | keyof typeof oddBodies | 'none' | 'a reset';

const heads: ReadonlyMap<string, (usual: Fields) => Fields> = new Map(Object.entries(oddHeads));
const bodies: ReadonlyMap<string, (message: Uint8Array) => Buffer> = new Map(Object.entries(oddBodies));

export const oddities = [...new Set([...heads.keys(), ...bodies.keys(), 'a reset'])] as Oddity[];

export function headOf(oddity: Oddity, usual: Fields): Fields {
  return heads.get(oddity)?.(usual) ?? usual;
}

export function bodyOf(oddity: Oddity, message: Uint8Array): Buffer {
  return bodies.get(oddity)?.(message) ?? framed(message);
}

function set(name: string, value: string): (usual: Fields) => Fields {
  return (usual) => usual.map((it) => (it[0] === name ? ([name, value] as const) : it));
}

function without(name: string): (usual: Fields) => Fields {
  return (usual) => usual.filter((it) => it[0] !== name);
}

function and(name: string, value: string): (usual: Fields) => Fields {
  return (usual) => [...usual, [name, value]];
}

function flagged(message: Uint8Array): Buffer {
  return framed(message, message.length, true);
}
