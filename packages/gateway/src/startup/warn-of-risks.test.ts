import { pino } from 'pino';
import { expect, test } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import { warnOfRisks } from './warn-of-risks.ts';

function warnings(env: Readonly<Record<string, string>>): string[] {
  const said: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => said.push(line) });
  warnOfRisks(loadConfig({ flags: {}, env }).config, logger);
  return said;
}

test('open registration is warned of, with what a stranger gets', () => {
  const [warning = '', ...others] = warnings({ SVC_AUTH_OPEN_REGISTRATION: 'yes' });
  expect(others).toEqual([]);
  expect(JSON.parse(warning)).toMatchObject({ level: 40 });
  expect(warning).toMatch(/anybody who can reach this gateway .* developer, who reads the records of every org/);
});

test('so is answering for any host', () => {
  expect(warnings({ SVC_ALLOWED_HOSTS: 'a.example, *' }).join('')).toContain('DNS rebinding');
});

test.each([
  {},
  { SVC_AUTH_OPEN_REGISTRATION: 'false' },
  { SVC_AUTH_OPEN_REGISTRATION: 'perhaps' },
  { SVC_AUTH_OPEN_REGISTRATION: 'true', SVC_DATABASE_URL: 'memory:' },
  { SVC_ALLOWED_HOSTS: '*.example.com' },
])('%j is not', (env) => {
  expect(warnings(env)).toEqual([]);
});
