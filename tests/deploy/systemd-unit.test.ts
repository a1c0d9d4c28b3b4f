import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unknownVariables } from './deploy-files.ts';

const unit = readFileSync('deploy/systemd/reeve.service', 'utf8');
const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const values = new Map(
  lines.filter((line) => line.includes('=')).map((line) => line.split(/=(.*)/s, 2) as [string, string]),
);

test('the unit has the three sections and lines that systemd can read', () => {
  expect(lines.filter((line) => line.startsWith('['))).toEqual(['[Unit]', '[Service]', '[Install]']);
  expect(lines.filter((line) => !/^(\[\w+\]|[A-Z][A-Za-z]+=.*)$/.test(line))).toEqual([]);
});

test('the unit names settings that exist, and keeps the data folder to the gateway', () => {
  expect(unknownVariables(unit.replaceAll('SVC_DRAIN_SECS', ''))).toEqual([]);
  expect(values.get('Environment')).toContain(`SVC_DATA_DIR=%S/${values.get('StateDirectory')}`);
  expect(values.get('StateDirectoryMode')).toBe('0700');
  expect(values.get('LogsDirectoryMode')).toBe('0700');
});

test('the unit starts wrong settings only once, and waits for a drain', () => {
  expect(values.get('RestartPreventExitStatus')).toBe('2');
  expect(Number.parseInt(values.get('TimeoutStopSec') ?? '', 10)).toBeGreaterThan(25);
});

test.each([
  ['DynamicUser', 'yes'],
  ['NoNewPrivileges', 'yes'],
  ['CapabilityBoundingSet', ''],
  ['ProtectSystem', 'strict'],
  ['ProtectHome', 'yes'],
  ['PrivateDevices', 'yes'],
])('the unit gives no more than it must: %s=%s', (key, value) => {
  expect(values.get(key)).toBe(value);
});
