import { expect, test } from 'vitest';
import { grpcAddressFor } from './grpc-address.ts';

const on = (host: string, publicGrpcAddr?: string) => ({ publicGrpcAddr, grpcAddr: { host, port: 0 } });

test.each([
  ['127.0.0.1', '127.0.0.1:50051', 'localhost', '127.0.0.1:50051'],
  ['0.0.0.0', '0.0.0.0:50051', 'reeve.example.com', 'reeve.example.com:50051'],
  ['::', '[::]:50051', '[fd00::5]', '[fd00::5]:50051'],
  ['0.0.0.0', '0.0.0.0:50051', undefined, '0.0.0.0:50051'],
  ['0.0.0.0', '0.0.0.0:50051', 'a$(id).example', '0.0.0.0:50051'],
  ['10.0.0.5', '10.0.0.5:50051', 'reeve.example.com', '10.0.0.5:50051'],
])('listening on %s as %s and called as %s, agents use %s', (host, listening, called, expected) => {
  expect(grpcAddressFor(on(host), listening, called)).toBe(expected);
});

test('a configured address counts before all others', () => {
  expect(grpcAddressFor(on('0.0.0.0', 'agents.example.com:443'), '0.0.0.0:50051', 'localhost')).toBe(
    'agents.example.com:443',
  );
});
