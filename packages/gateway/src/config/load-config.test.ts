import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-load-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const load = (env: Readonly<Record<string, string>>) => loadConfig({ flags: {}, env }).config;

const postgres = { SVC_DATABASE_URL: 'postgres://h/d' };

function credsFile(text: string): string {
  const file = join(folder, 'user.creds');
  writeFileSync(file, text);
  return file;
}

const creds =
  '-----BEGIN NATS USER JWT-----\nj\n------END NATS USER JWT------\n-----BEGIN USER NKEY SEED-----\ns\n------END USER NKEY SEED------\n';

describe('NATS', () => {
  test.each([
    [{ ...postgres, SVC_NATS_URL: 'nats://n' }],
    [{ ...postgres, SVC_NATS_URL: 'tls://u:secret@n,tls://u:secret@m:4223' }],
  ])('is given by a URL or several: %j', (env) => {
    expect(load(env).natsUrl).toBe(env.SVC_NATS_URL);
  });

  test('may be given by a credentials file that can be read', () => {
    const file = credsFile(creds);
    expect(load({ ...postgres, SVC_NATS_URL: 'tls://n', SVC_NATS_CREDS: file }).natsCreds).toBe(file);
  });

  test.each([
    [{ SVC_NATS_URL: 'nats://u:secret@n' }, 'SVC_NATS_URL needs a PostgreSQL SVC_DATABASE_URL'],
    [{ SVC_NATS_URL: 'nats://n', SVC_DATABASE_URL: 'memory:' }, 'SVC_NATS_URL needs a PostgreSQL SVC_DATABASE_URL'],
    [{ SVC_NATS_URL: 'http://u:secret@n' }, 'SVC_NATS_URL: the value given is not accepted; accepted: nats://'],
    [{ SVC_NATS_CREDS: '/nowhere' }, 'SVC_NATS_CREDS is set and SVC_NATS_URL is not'],
    [{ ...postgres, SVC_NATS_URL: 'tls://n', SVC_NATS_CREDS: '/nowhere' }, 'SVC_NATS_CREDS: cannot read'],
    [{ ...postgres, SVC_NATS_URL: 'tls://n', SVC_NATS_CREDS: '/' }, 'SVC_NATS_CREDS: cannot read'],
    [
      { ...postgres, SVC_NATS_URL: 'tls://secret@n', SVC_NATS_CREDS: '/nowhere' },
      'SVC_NATS_CREDS is set and SVC_NATS_URL holds credentials, too',
    ],
  ])('%j is refused, and no credential is shown', (env, message) => {
    expect(() => load(env)).toThrow(message);
    expect(() => load(env)).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(() => load(env)).not.toThrow('secret');
  });

  test('a credentials file that holds none is refused without its content', () => {
    const env = { ...postgres, SVC_NATS_URL: 'tls://n', SVC_NATS_CREDS: credsFile('secret') };
    expect(() => load(env)).toThrow('user.creds holds no credentials');
    expect(() => load(env)).not.toThrow('secret');
  });
});

describe('a setting that was removed', () => {
  const said = 'SVC_GRPC_ENGINE was removed: the gateway serves gRPC by its own engine alone; leave the setting out';

  test.each(['reeve', 'grpc-js', ''])('is refused in the environment, and the message says why: %j', (value) => {
    expect(() => load({ SVC_GRPC_ENGINE: value })).toThrow(said);
    expect(() => load({ SVC_GRPC_ENGINE: value })).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  test('is refused in a file, too', () => {
    const file = join(folder, 'reeve.yaml');
    writeFileSync(file, 'grpc_engine: reeve\n');
    const named = `grpc_engine in ${file} was removed: the gateway serves gRPC by its own engine alone`;
    expect(() => loadConfig({ flags: {}, env: {}, file })).toThrow(named);
  });
});

test('a takeover is given in whole seconds', () => {
  expect(load({}).takeoverSecs).toBe(10);
  expect(load({ SVC_TAKEOVER_SECS: '3600' }).takeoverSecs).toBe(3600);
  for (const text of ['1', '3601', '2.5', '-3', 'soon']) {
    expect(() => load({ SVC_TAKEOVER_SECS: text })).toThrow('a whole number from 2 to 3600');
  }
});

test.each(['reeve.example.com:50051', '10.0.0.5:443', '[fd00::5]:50051'])('agents may be told to use %s', (address) => {
  expect(load({ SVC_PUBLIC_GRPC_ADDR: address }).publicGrpcAddr).toBe(address);
});

test.each(['reeve.example.com', ':50051', '0.0.0.0:50051', '[::]:50051', 'reeve.example.com:0'])(
  'nobody can connect to %s, so it is refused',
  (address) => {
    expect(() => load({ SVC_PUBLIC_GRPC_ADDR: address })).toThrow(/SVC_PUBLIC_GRPC_ADDR: .* agents can connect to/);
  },
);

describe('what needs something else is refused without it', () => {
  const webhook = { SVC_APPROVAL_WEBHOOK_URL: 'https://h/x', SVC_APPROVAL_WEBHOOK_SECRET: 'a secret that signs' };
  const approver = { SVC_APPROVAL_WEBHOOK_APPROVER: 'alice@example.com' };

  test.each([
    [approver, 'SVC_APPROVAL_WEBHOOK_APPROVER is set and SVC_APPROVAL_WEBHOOK_URL is not'],
    [{ ...webhook, ...approver, SVC_DATABASE_URL: 'memory:' }, 'there are no accounts with "memory:"'],
    [{ ...webhook, SVC_APPROVAL_WEBHOOK_APPROVER: 'alice' }, 'the email of an account'],
    [{ ...webhook, SVC_APPROVAL_WEBHOOK_FORMAT: 'irc' }, 'json, slack, teams'],
    [{ SVC_FORWARD: 'file:/a,https://u:hidden@h/x' }, 'SVC_FORWARD_SECRET is not set'],
    [{ SVC_FORWARD: 'file:/a', SVC_FORWARD_SECRET: 'hidden' }, 'at least 16 characters'],
  ])('%j', (env, said) => {
    expect(() => load(env)).toThrow(said);
    expect(() => load(env)).not.toThrow('hidden');
  });

  test('and accepted with it', () => {
    expect(load({ ...webhook, ...approver }).approvalWebhookApprover).toBe('alice@example.com');
    const forward = { SVC_FORWARD: 'https://h/x', SVC_FORWARD_SECRET: 'a secret that signs' };
    expect(load(forward).forward).toMatchObject([{ kind: 'https' }]);
  });
});
