import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { settings } from '../../packages/gateway/src/config/settings.ts';
import { readYaml, settingKeys, unknownVariables } from './deploy-files.ts';

const chart = 'deploy/helm/reeve';

interface Values {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly secretSettings: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

const values = readYaml(`${chart}/values.yaml`) as Values;
const full = readYaml(`${chart}/ci/full-values.yaml`) as Values;
const schema = JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')) as {
  readonly properties: Readonly<Record<string, unknown>>;
};
const validate = new Ajv({ strict: false }).compile(schema);

test.each([
  ['the default values', values],
  ['all values', { ...values, ...full }],
])('%s fit the schema', (_, given) => {
  validate(given);
  expect(validate.errors ?? []).toEqual([]);
});

test.each([
  ['a name that is not there', { ...values, replica: 2 }],
  ['no gateway', { ...values, replicas: 0 }],
  ['an ingress without a host', { ...values, ingress: { enabled: true, host: '' } }],
  ['a policy that is no YAML file', { ...values, policies: { 'base.txt': 'name: base' } }],
])('%s does not fit the schema', (_, given) => {
  expect(validate(given)).toBe(false);
});

test('the schema knows every value, and every value has a default', () => {
  const known = Object.keys(schema.properties).filter((name) => name !== 'global');
  expect(Object.keys(values).toSorted()).toEqual(known.toSorted());
});

test('the settings that the chart and its examples name exist', () => {
  const named = [...Object.keys(full.settings), ...Object.keys(full.secretSettings)];
  expect(named.filter((key) => !settingKeys.has(key))).toEqual([]);
  const examples = readFileSync(`${chart}/values.yaml`, 'utf8').matchAll(/^# {3}(\w+): [^|]+$/gm);
  const keys = [...examples].map(([, key = '']) => key);
  expect(keys.length).toBeGreaterThan(0);
  expect(keys.filter((key) => !settingKeys.has(key))).toEqual([]);
  for (const file of readdirSync(`${chart}/templates`)) {
    const text = readFileSync(`${chart}/templates/${file}`, 'utf8')
      .replaceAll('SVC_{{', '')
      .replaceAll('with SVC_ ', '');
    expect(unknownVariables(text), file).toEqual([]);
  }
});

test('no secret setting can stand in a ConfigMap', () => {
  const helpers = readFileSync(`${chart}/templates/_helpers.tpl`, 'utf8');
  const refused = new RegExp(/regexMatch "([^"]+)"/.exec(helpers)?.[1] ?? '^$');
  const secrets = Object.values<{ key: string; secret?: boolean }>(settings).filter(({ secret }) => secret === true);
  expect(secrets.length).toBeGreaterThan(4);
  expect(secrets.filter(({ key }) => !refused.test(key)).map(({ key }) => key)).toEqual([]);
  expect(Object.keys(full.settings).filter((key) => refused.test(key))).toEqual([]);
});

test('the chart is of the version of the packages', () => {
  const { version } = JSON.parse(readFileSync('packages/gateway/package.json', 'utf8')) as { version: string };
  expect(readYaml(`${chart}/Chart.yaml`)).toMatchObject({ version, appVersion: version });
});
