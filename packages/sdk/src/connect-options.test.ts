import { afterEach, expect, test, vi } from 'vitest';
import type { ConnectOptions } from './connect-options.ts';
import { settingsOf } from './connect-options.ts';
import { ReeveInvalidRequest } from './errors.ts';

const key = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

afterEach(() => vi.unstubAllEnvs());

test.each([
  [undefined, ['127.0.0.1:50051']],
  ['', ['127.0.0.1:50051']],
  ['10.0.0.1:1', ['10.0.0.1:1']],
  ['127.0.0.1:1, 127.0.0.1:2,', ['127.0.0.1:1', '127.0.0.1:2']],
])('without an address, REEVE_GRPC_ADDR=%j counts', (variable, addresses) => {
  vi.stubEnv('REEVE_GRPC_ADDR', variable);
  expect(settingsOf({}).settings.endpoints.map(({ address }) => address)).toEqual(addresses);
  expect(settingsOf({ address: '127.0.0.1:9' }).settings.endpoints[0]?.address).toBe('127.0.0.1:9');
});

test('an address in REEVE_GRPC_ADDR that is none is refused', () => {
  vi.stubEnv('REEVE_GRPC_ADDR', 'http://a.example:1');
  expect(() => settingsOf({})).toThrow(ReeveInvalidRequest);
});

test('defaults', () => {
  expect(settingsOf({ address: '127.0.0.1:50051' })).toEqual({
    settings: {
      endpoints: [{ address: '127.0.0.1:50051', tls: undefined }],
      deadlineMs: 5000,
      retry: { burst: 10, ratio: 0.1, initialBackoffMs: 50, maxBackoffMs: 1000 },
      onUnavailable: 'deny',
      pipeline: 'auto',
    },
    apiKey: undefined,
  });
});

test.each<[Partial<ConnectOptions>, string]>([
  [{ address: '' }, 'address'],
  [{ addresses: ['127.0.0.1:2'] }, 'addresses: give address or addresses, not both'],
  [{ deadlineMs: 0 }, 'deadlineMs'],
  [{ deadlineMs: Number.NaN }, 'deadlineMs'],
  [{ retry: { burst: -1 } }, 'retry.burst'],
  [{ retry: { ratio: 1.5 } }, 'retry.ratio'],
  [{ retry: { initialBackoffMs: 0 } }, 'retry.initialBackoffMs'],
  [{ onUnavailable: 'allow' as 'deny' }, 'onUnavailable: must be one of deny, throw'],
  [{ pipeline: true as unknown as 'auto' }, 'pipeline: must be one of auto, always, never'],
  [{ tls: { cert: 'x' } }, 'tls: cert and key belong together'],
  [{ apiKey: key.replace('012', '013') }, 'apiKey: the checksum does not fit'],
  [{ apiKey: 'rvk_short' }, 'apiKey: must be "rvk_"'],
  [{ apiKey: `${key}\nX-Other: 1` }, 'apiKey: holds a character that cannot be sent'],
])('%j is refused by name', (given, message) => {
  const options = { address: '127.0.0.1:1', ...given };
  expect(() => settingsOf(options)).toThrow(ReeveInvalidRequest);
  expect(() => settingsOf(options)).toThrow(message);
});

test('a key is taken without the line break of the file it came from, and an empty one is none', () => {
  expect(settingsOf({ address: '127.0.0.1:1', apiKey: `${key}\n` }).apiKey).toBe(key);
  expect(settingsOf({ address: '127.0.0.1:1', apiKey: ' ' }).apiKey).toBeUndefined();
  expect(settingsOf({ address: '127.0.0.1:1', apiKey: 'a.jwt.token' }).apiKey).toBe('a.jwt.token');
});

test('an error about a key does not show it', () => {
  const wrong = `${key.slice(0, -1)}9`;
  for (const apiKey of [wrong, `${wrong} x`, wrong.slice(0, 40)]) {
    const error = failure(() => settingsOf({ address: '127.0.0.1:1', apiKey }));
    expect(error.stack).not.toContain(key.slice(17, 40));
  }
});

function failure(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}
