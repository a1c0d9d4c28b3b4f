import { expect, test } from 'vitest';
import { doorChoices, doorGroups } from './connect-doors.ts';
import { addressWarning, linesFor, shownCode } from './connect-lines.ts';
import type { DoorId } from './door-ids.ts';
import { doorIds } from './door-ids.ts';
import { tokenMark } from './lines.ts';
import { programs } from './programs.ts';

const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot-1' };
const place = { grpcAddr: 'reeve.example.com:50051', hasTls: true, agent };
const codeOf = (...args: Parameters<typeof linesFor>) =>
  linesFor(...args)
    .map(({ code }) => code)
    .join('\n');

const isCode = (door: DoorId): door is keyof typeof programs => Object.hasOwn(programs, door);
const ofCommands = doorIds.filter((door) => !isCode(door) && door !== 'grpc');
const ofPrograms = doorIds.filter(isCode);

test.each(doorIds)('%s has lines with the address of the gateway and one place for the token', (door) => {
  const code = codeOf(door, place);
  expect(code).toContain(place.grpcAddr);
  expect(code.split(tokenMark)).toHaveLength(2);
  const titles = linesFor(door, place).map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(doorGroups.flatMap(([, doors]) => doors)).toContain(door);
  expect(doorChoices[door].leaves).not.toBe('');
});

test.each(['mcp-stdio', 'mcp-http'] as const)('the configuration for %s is JSON, whatever the token is', (door) => {
  const code = linesFor(door, place).at(-1)?.code ?? '';
  expect(JSON.parse(shownCode(code, 'rva_x', true))).toMatchObject({ mcpServers: { files: expect.anything() } });
});

test('both proxies can run on one machine', () => {
  const portsOf = (door: DoorId) => [...new Set(codeOf(door, place).match(/127\.0\.0\.1:\d+/g))];
  const ports = [...portsOf('mcp-http'), ...portsOf('openai')];
  expect([ports.length, new Set(ports).size]).toEqual([2, 2]);
});

test('a token is never on a command line, but in files and environments', () => {
  for (const door of doorIds) {
    for (const { code } of linesFor(door, place)) {
      if (code.includes(tokenMark))
        expect(code.split(tokenMark)[0]).not.toMatch(/\breeve (mcp|llm|hook) |curl(?!.*-d @- \\\n.* <<'END')/);
    }
  }
});

test.each([
  ['127.0.0.1:50051', false, ''],
  ['127.0.0.1:50051', true, ', tls: true'],
  ['reeve.example.com:50051', true, ''],
  ['10.0.0.5:50051', false, ', tls: false'],
])('code for %s with TLS %s says what no client would guess: "%s"', (grpcAddr, hasTls, option) => {
  const inPython = option.replace(': ', '=').replace('true', 'True').replace('false', 'False');
  const said = {
    typescript: `connect({ address: '${grpcAddr}'${option} })`,
    python: `Reeve("${grpcAddr}"${inPython})`,
  };
  for (const door of ofPrograms) {
    expect(codeOf(door, { ...place, grpcAddr, hasTls })).toContain(said[programs[door].language]);
  }
});

const textOf = (...args: Parameters<typeof linesFor>) =>
  linesFor(...args)
    .map(({ code, note = '' }) => `${code}\n${note}`)
    .join('\n');
test.each(doorIds)('%s says how to trust a gateway that an authority of your own certified', (door) => {
  const byLanguage = { typescript: 'tls: { ca }', python: 'tls=TlsOptions(ca=' };
  const option = isCode(door)
    ? byLanguage[programs[door].language]
    : ({ grpc: '--cacert FILE', 'mcp-stdio': 'REEVE_GRPC_CA' }[door as string] ?? '--grpc-ca FILE');
  expect(textOf(door, place)).toContain(option);
  expect(codeOf(door, place)).not.toMatch(/grpc.ca/i);
});

test.each(ofCommands)('%s names the file for a gateway with TLS on this machine', (door) => {
  const code = codeOf(door, { ...place, grpcAddr: '127.0.0.1:50051' });
  expect(code).toMatch(/--grpc-ca \/etc\/reeve\/ca\.pem|"REEVE_GRPC_CA": "\/etc\/reeve\/ca\.pem"/);
  expect(textOf(door, { ...place, grpcAddr: '127.0.0.1:50051' })).toContain('“/etc/reeve/ca.pem” stands for');
});

test.each(doorIds)('%s says nothing of authorities where the gateway has no TLS', (door) => {
  expect(textOf(door, { ...place, hasTls: false })).not.toMatch(/grpc.ca|authority/i);
});

test('the token is hidden until it is asked for, and none is made up', () => {
  const token = 'rva_secret$&$1';
  expect(shownCode(`a=${tokenMark}`, token, false)).toBe('a=rva_••••••••••••');
  expect(shownCode(`a=${tokenMark}`, token, true)).toBe(`a=${token}`);
  expect(shownCode(`a=${tokenMark}`, undefined, true)).toBe('a=AGENT_TOKEN');
});

test.each([
  ['127.0.0.1:50051', false, 'localhost', undefined],
  ['127.0.0.1:50051', false, 'reeve.example.com', /own machine alone/],
  ['[::1]:50051', true, '[::1]', undefined],
  ['reeve.example.com:50051', true, 'reeve.example.com', undefined],
  ['reeve.example.com:50051', false, 'reeve.example.com', /by TLS/],
])('agents of %s with TLS %s, seen from %s', (grpcAddr, hasTls, pageHost, warning) => {
  const said = addressWarning(grpcAddr, hasTls, pageHost);
  if (warning === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(warning);
});
