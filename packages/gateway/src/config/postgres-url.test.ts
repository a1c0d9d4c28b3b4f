import { describe, expect, test } from 'vitest';
import { parsePostgresUrl } from './postgres-url.ts';

describe('a PostgreSQL URL', () => {
  test('names user, password, host, port and database, each of them decoded', () => {
    expect(parsePostgresUrl('postgres://re%40eve:p%2Fw%3A%25@db.example.com:6543/my%20db')).toMatchObject({
      user: 're@eve',
      password: 'p/w:%',
      host: 'db.example.com',
      port: 6543,
      database: 'my db',
    });
  });

  test.each([
    ['postgresql://h/d', { host: 'h', port: 5432, user: undefined, password: undefined, database: 'd' }],
    ['postgres://h', { host: 'h', database: undefined, tlsMode: 'require', connectTimeoutSecs: 5 }],
    ['postgres://10.0.0.5/d?sslmode=prefer', { host: '10.0.0.5', tlsMode: 'prefer' }],
    ['postgres://h/d?sslmode=disable', { tlsMode: 'disable' }],
    ['postgres:///d', { host: 'localhost', database: 'd', tlsMode: 'prefer' }],
    ['postgres://u@127.0.0.2/d', { tlsMode: 'prefer' }],
    ['postgres://u@[::1]:5433/d', { host: '::1', port: 5433, user: 'u', tlsMode: 'prefer' }],
    ['postgres://u@%2Fvar%2Frun%2Fpostgresql/d', { host: '/var/run/postgresql', tlsMode: 'prefer' }],
    ['postgres:///d?host=db.example.com', { host: 'db.example.com', tlsMode: 'require' }],
    [
      'postgres:///d?host=/run/pg&port=5433&user=u&password=p',
      { host: '/run/pg', port: 5433, user: 'u', password: 'p' },
    ],
    [
      'postgres://h/d?dbname=other&application_name=x&connect_timeout=30',
      { database: 'other', connectTimeoutSecs: 30 },
    ],
    [
      'postgres://h/d?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem',
      { tlsMode: 'verify-full', rootCertFile: '/ca.pem', certFile: '/c.pem', keyFile: '/k.pem' },
    ],
    ['postgres://h/d?sslmode=require&channel_binding=require&target_session_attrs=read-write', { tlsMode: 'require' }],
  ])('%s', (url, expected) => {
    expect(parsePostgresUrl(url)).toMatchObject(expected);
  });

  test.each([
    ['mysql://u:secret@h/d', 'postgres://user:password@host:port/database'],
    ['nonsense', 'postgres://user:password@host:port/database'],
    ['postgres://u:secret@h/d?sslmode=maybe', 'disable, allow, prefer, require, verify-ca, verify-full'],
    ['postgres://u:secret@h/d?ssl_mode=require', 'no other parameters than host, port'],
    ['postgres://u:secret@a,b/d', 'one host'],
    ['postgres://u:secret@h/d?port=0', 'a port from 1 to 65535'],
    ['postgres://u:secret%@h/d', 'written as %25'],
    ['postgres://u:secret@h/d?connect_timeout=soon', 'connect_timeout in seconds'],
  ])('%s is refused with what is accepted, and without the password', (url, accepted) => {
    expect(() => parsePostgresUrl(url)).toThrow(accepted);
    expect(() => parsePostgresUrl(url)).not.toThrow('secret');
  });
});
