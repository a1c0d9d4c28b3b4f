import { expect, test } from 'vitest';
import { parseConnectSearch } from './connect-search.ts';

test('a link names a door and an agent, and nothing else', () => {
  expect(parseConnectSearch({ door: 'codex', agent: 'acme/core/bot', token: 'rva_x' })).toEqual({
    door: 'codex',
    agent: 'acme/core/bot',
  });
  expect(parseConnectSearch({ door: 'window' })).toEqual({ door: undefined, agent: undefined });
});
