import { describeProblem } from '@reeve/core';
import { expect, test } from 'vitest';
import { readIssuers, subjectForm } from './read-issuers.ts';

const read = (text: string) => readIssuers('/etc/reeve/subjects.yaml', text, subjectForm);
const firstOf = (text: string) => {
  const [first] = read(text).problems.map(describeProblem);
  return first?.replace('/etc/reeve/subjects.yaml:', '');
};

test('an entry has an issuer, audiences, a place of keys, and names of claims', () => {
  const { entries, problems } = read(`
- issuer: https://id.example
  audience: reeve
  jwks_uri: https://id.example/keys?v=1
- {issuer: other, audience: [a, b], jwks_file: keys.json, claims: {email: mail}}
`);
  expect(problems).toEqual([]);
  expect(entries.map(({ settings }) => settings)).toEqual([
    {
      issuer: 'https://id.example',
      audiences: ['reeve'],
      jwksUri: 'https://id.example/keys?v=1',
      claims: { email: 'email', groups: 'groups' },
    },
    {
      issuer: 'other',
      audiences: ['a', 'b'],
      jwksFile: '/etc/reeve/keys.json',
      claims: { email: 'mail', groups: 'groups' },
    },
  ]);
  expect(entries[0]?.keysAt).toEqual({ file: '/etc/reeve/subjects.yaml', line: 4, column: 13 });
});

test('an empty list trusts nobody', () => expect(read('[]')).toEqual({ entries: [], problems: [] }));

test.each([
  ['', '1:1: a file of issuers must be a list'],
  ['issuer: x', '1:1: a file of issuers must be a list'],
  ['- [', '1:4: '],
  ['- x', '1:3: an entry must be a mapping'],
  ['- {issuer: x, audience: a, jwks_uri: "https://x/", claim: {}}', '1:52: unknown key "claim"'],
  ['- {audience: a, jwks_uri: "https://x/"}', '1:3: "issuer" must be a text'],
  ['- {issuer: x, jwks_uri: "https://x/"}', '1:3: "audience" must be a text'],
  ['- {issuer: x, audience: [], jwks_uri: "https://x/"}', '1:25: "audience" must name at least one'],
  ['- {issuer: x, audience: [a, 1], jwks_uri: "https://x/"}', '1:29: an item of "audience" must be a text'],
  ['- {issuer: x, audience: a}', '1:3: an entry must have either "jwks_uri" or "jwks_file"'],
  ['- {issuer: x, audience: a, jwks_uri: "https://x/", jwks_file: y}', '1:28: an entry must have either'],
  ['- {issuer: x, audience: a, jwks_uri: "http://x.example/"}', '1:38: "jwks_uri" must be an https:// URL'],
  ['- {issuer: x, audience: a, jwks_uri: "https://u:p@x/"}', '1:38: "jwks_uri" must be an https:// URL'],
  ['- {issuer: x, audience: a, jwks_uri: "file:///x"}', '1:38: "jwks_uri" must be an https:// URL'],
  ['- {issuer: x, audience: a, jwks_uri: "https://x/", claims: {mail: y}}', '1:61: unknown key "mail" in "claims"'],
  ['[]\n---\n[]', '3:1: must be one document'],
])('%j is refused at its place', (text, expected) => {
  expect(firstOf(text)?.startsWith(expected) ? expected : firstOf(text)).toBe(expected);
});

test('http on loopback is as good as https', () => {
  expect(firstOf('- {issuer: x, audience: a, jwks_uri: "http://127.0.0.1:9/keys"}')).toBeUndefined();
  expect(firstOf('- {issuer: x, audience: a, jwks_uri: "http://[::1]:9/keys"}')).toBeUndefined();
});
