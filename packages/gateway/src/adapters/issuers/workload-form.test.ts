import { describeProblem } from '@reeve/core';
import { expect, test } from 'vitest';
import { readIssuers } from './read-issuers.ts';
import { workloadForm } from './workload-form.ts';

const read = (text: string) => readIssuers('w.yaml', text, workloadForm);
const issuer = '- issuer: x\n  audience: y\n  jwks_uri: https://x/\n';

test('an entry says what matches, which agent that is, and whether it is registered', () => {
  const { entries, problems } = read(`${issuer}  match: {sub: "a:{ns:*}"}\n  agent: acme/{ns}/bot\n  register: true\n`);
  expect(problems).toEqual([]);
  expect(entries[0]?.settings).toMatchObject({
    issuer: 'x',
    registers: true,
    match: [{ claim: 'sub', path: ['sub'] }],
  });
  expect(read(`${issuer}  match: {sub: x}\n  agent: acme/a/b\n`).entries[0]?.settings.registers).toBe(false);
});

test.each([
  ['  agent: a/b/c\n', 'w.yaml:1:3: an entry must have "match"'],
  ['  match: {}\n  agent: a/b/c\n', 'w.yaml:4:10: "match" must name at least one claim'],
  ['  match: {sub: x}\n', 'w.yaml:1:3: "agent" must be a text that is not empty'],
  ['  match: {sub: x}\n  agent: a/b\n', 'w.yaml:5:10: must be ORG/TEAM/AGENT, with "-" for an empty org or team'],
  [
    '  match: {sub: "ab{x}"}\n  agent: a/b/c\n',
    'w.yaml:4:19: "{" begins a capture as {name:glob}; write "\\{" for a brace',
  ],
  ['  match: {sub: 3}\n  agent: a/b/c\n', 'w.yaml:4:16: "sub" must be a text that is not empty'],
  ['  match: {sub: "{n:*}", aud: "{n:*}"}\n  agent: a/b/{n}\n', 'w.yaml:4:30: "n" is captured twice'],
  ['  match: {sub: x}\n  agent: a/b/c\n  register: yes please\n', 'w.yaml:6:13: "register" must be true or false'],
  [
    '  match: {sub: x}\n  agent: a/b/c\n  claims: {}\n',
    'w.yaml:6:3: unknown key "claims" in an entry; known: issuer, audience, jwks_uri, jwks_file, match, agent, register',
  ],
])('%j is refused at its place', (rest, expected) => {
  const [first] = read(issuer + rest).problems.map(describeProblem);
  expect(first).toBe(expected);
});
