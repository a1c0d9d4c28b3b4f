import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { joined, readProfile } from './read-profile.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-profile-'));
afterAll(() => rmSync(folder, { recursive: true }));

function profileOf(text: string) {
  const file = join(folder, 'profile.yaml');
  writeFileSync(file, text);
  return readProfile(file);
}

test('lists add up, and other flags count before the profile', () => {
  const profile = profileOf('write: [a, ~/b]\nenv: [~]\ngrace: 20\nlost_gateway: stop\n'.replace('[~]', '["~"]'));
  expect(profile).toMatchObject({ write: ['a', join(homedir(), 'b')], env: ['~'], grace: 20, lostGateway: 'stop' });
  const flags = { write: ['c'], read: [], hide: [], env: [], grace: 1, lostGateway: undefined };
  expect(joined(flags, profile)).toMatchObject({
    write: ['c', 'a', join(homedir(), 'b')],
    grace: 1,
    lostGateway: 'stop',
  });
});

test('two are shipped', () => {
  expect([readProfile('coding').grace, readProfile('readonly').read]).toEqual([10, ['.']]);
});

test.each([
  ['wirte: [a]', 'there is no member "wirte"'],
  ['- a', 'it must be a map of members'],
  ['write: a', 'write must be a list of texts'],
  ['read: [1]', 'read must be a list of texts'],
  ['hide: [""]', 'hide must be a list of texts'],
  ['grace: -1', 'grace must be a whole number'],
  ['grace: 1.5', 'grace must be a whole number'],
  ['lost_gateway: wait', 'lost_gateway must be one of pause, stop, continue'],
  ['write: [', 'nor a YAML file'],
])('%s is refused', (text, message) => {
  expect(() => profileOf(text)).toThrow(message);
});
