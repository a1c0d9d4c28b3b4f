import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerSpec } from '@reeve/proxy/mcp';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NoSubjectToken } from '../agent-identity/subject-token.ts';
import { ownSubject } from './server-access.ts';

const spec = { url: new URL('https://tickets.example/mcp'), headers: {}, auth: { type: 'enterprise' } } as ServerSpec;
const part = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url');
const jwt = (iss: string) => `${part({ alg: 'none' })}.${part({ iss, sub: 'anna' })}.x`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a check names the user by, where there is an ID token of another issuer as well. */
function subjectWith(text: string | undefined, taken: string): Promise<string | undefined> {
  const [file, idFile] = [join(folder, 'token'), join(folder, 'id-token')];
  if (text !== undefined) writeFileSync(file, text);
  writeFileSync(idFile, jwt('https://id.example'));
  const env = { REEVE_SUBJECT_TOKEN_FILE: file, REEVE_ID_TOKEN_FILE: idFile };
  return ownSubject({ env }, spec, async (issuer) => issuer === taken)();
}

it.each([undefined, '', 'two words'])('a file that is named and holds no token ends the call: %j', async (text) => {
  await expect(subjectWith(text, 'https://id.example')).rejects.toBeInstanceOf(NoSubjectToken);
});

it('sends the token along if the gateway takes those of its own issuer', async () => {
  const token = jwt('https://access.example');
  expect(await subjectWith(token, 'https://access.example')).toBe(token);
  expect(await subjectWith(token, 'https://id.example')).toBeUndefined();
});
