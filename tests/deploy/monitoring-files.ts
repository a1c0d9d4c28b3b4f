import { readFileSync } from 'node:fs';
import { readYaml } from './deploy-files.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

export interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

export function alertRules(): AlertRule[] {
  return (readYaml('deploy/prometheus/rules.yaml') as Rules).groups.flatMap(({ rules }) => rules);
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync('deploy/grafana/reeve.json', 'utf8')) as Dashboard;
}

/** The queries of the dashboard, with values in place of its variables. */
export function dashboardQueries(): string[] {
  const queries = dashboard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return queries.map((query) =>
    query.replaceAll('$job', 'reeve').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '2m'),
  );
}
