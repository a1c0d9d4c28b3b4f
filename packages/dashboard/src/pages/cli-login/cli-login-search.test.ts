import { expect, test } from 'vitest';
import { askingCommand, commandUrl } from './cli-login-search.ts';

const asked = { port: '40123', challenge: 'a'.repeat(64), state: 'abcdefghijklmnop' };

test('a whole link leads to the command on this computer', () => {
  const command = askingCommand(asked);
  expect(command && commandUrl(command, 'rvl_x')).toBe('http://127.0.0.1:40123/?code=rvl_x&state=abcdefghijklmnop');
});

test.each([
  {},
  { ...asked, port: '80' },
  { ...asked, port: '70000' },
  { ...asked, port: '4012@evil.example' },
  { ...asked, challenge: 'A'.repeat(64) },
  { ...asked, state: 'short' },
  { ...asked, state: 'abcdefghijklmnop&code=x' },
])('%j is no whole link', (search) => {
  expect(askingCommand(search)).toBeUndefined();
});
