import { describe, expect, test } from 'vitest';
import type { Gateway } from './gateways-model.ts';
import { hasMixedVersions, remarksOn, shortId } from './gateways-model.ts';

function gateway(given: Partial<Gateway> = {}): Gateway {
  return {
    id: '3f0c1a52-6f0e-4b0c-9a57-0c8d2f6f1e11',
    version: '1.0.0',
    started_at: '2026-01-01T00:00:00.000Z',
    state: 'active',
    agents: 1,
    ops_in_flight: 0,
    self: false,
    ...given,
  };
}

describe('remarks on gateways', () => {
  test('are none while all are active and the same', () => {
    expect(remarksOn([gateway(), gateway()])).toEqual([]);
    expect(remarksOn([])).toEqual([]);
  });

  test.each([
    [['active', 'active', 'lost'], '1 of 3 is lost. The rest serve its agents.'],
    [['active', 'lost', 'lost'], '2 of 3 are lost. The rest serve their agents.'],
  ] as const)('say what %j means', (states, words) => {
    expect(remarksOn(states.map((state) => gateway({ state })))).toEqual([{ tone: 'danger', text: words }]);
  });

  test('name the versions of an upgrade that is under way', () => {
    const mixed = [gateway({ version: '1.1.0' }), gateway(), gateway({ version: '1.1.0' })];
    expect(hasMixedVersions(mixed)).toBe(true);
    expect(remarksOn(mixed)).toEqual([{ tone: 'warn', text: 'Versions differ: 1.0.0 and 1.1.0.' }]);
  });

  test('ignore the version of a gateway that no longer runs', () => {
    const upgraded = [gateway({ version: '1.1.0' }), gateway({ state: 'lost' })];
    expect(hasMixedVersions(upgraded)).toBe(false);
    expect(remarksOn(upgraded)).toHaveLength(1);
  });
});

test('an id is shortened to what tells gateways apart', () => {
  expect(shortId(gateway().id)).toBe('3f0c1a52');
  expect(shortId('gw-1')).toBe('gw-1');
});
