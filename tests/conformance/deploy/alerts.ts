import { equal } from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { dashboardQueries } from '../../deploy/monitoring-files.ts';
import { cacheFolder } from '../tools.ts';
import { ruleTests } from './rule-tests.ts';
import type { Trials } from './trials.ts';

const rules = resolve('deploy/prometheus/rules.yaml');

/** Has Prometheus itself read the alerts and the queries of the dashboard, and tries some alerts on made-up series. */
export async function tryAlerts({ say, trial, uses, missing }: Trials): Promise<void> {
  const promtool = findPromtool(say);
  if (promtool === undefined) return missing('promtool: the package prometheus of Debian could not be downloaded');
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
    equal(status, 0, `${stdout}${stderr}`);
  };
  const { stdout, stderr } = spawnSync(promtool, ['--version'], { encoding: 'utf8' });
  uses('promtool', /version (\S+)/.exec(`${stdout}${stderr}`)?.[1] ?? 'unknown version');
  const folder = mkdtempSync(join(tmpdir(), 'reeve-rules-'));
  try {
    await trial('promtool check rules finds nothing', () => run('check', 'rules', rules));
    await trial('promtool reads every query of the dashboard', () => {
      const queries = dashboardQueries().map((expr, index) => ({ record: `reeve:panel_${index}`, expr }));
      const file = join(folder, 'queries.yaml');
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: queries }] }));
      run('check', 'rules', file);
    });
    await trial('alerts come when they should, and not before', () => {
      const file = join(folder, 'tests.yaml');
      writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '15s', tests: ruleTests }));
      run('test', 'rules', file);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Taken out of the package, so that no service is installed. */
function findPromtool(say: (line: string) => void): string | undefined {
  const folder = join(cacheFolder, 'prometheus');
  const path = join(folder, 'usr/bin/promtool');
  if (existsSync(path)) return path;
  say('downloading the package prometheus');
  mkdirSync(folder, { recursive: true });
  spawnSync('apt-get', ['download', 'prometheus'], { cwd: folder });
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (archive === undefined) return undefined;
  execFileSync('dpkg-deb', ['--extract', archive, '.'], { cwd: folder });
  return path;
}
