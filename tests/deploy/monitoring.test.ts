import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allowAll, TestGateway } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { createDatabase } from '../harness/postgres.ts';
import { alertRules, dashboard, dashboardQueries } from './monitoring-files.ts';

/** What Prometheus adds to each target itself. */
const added = { metrics: new Set(['up', 'ALERTS']), labels: new Set(['job', 'instance', 'le']) };

/** The metrics of a query with the labels that it matches or groups by. */
function metricsIn(query: string): { readonly name: string; readonly labels: readonly string[] }[] {
  const selectors = query.matchAll(/\b((?:reeve|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g);
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((l) => l.trim()),
  );
  return [...selectors].map(([, name = '', matchers = '']) => ({
    name: name.replace(/_(bucket|sum|count)$/, ''),
    labels: [...[...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label), ...grouped],
  }));
}

/** The labels of each metric, as the reference has them. */
function documentedLabels(): Map<string, string[]> {
  const rows = readFileSync('docs/reference/metrics.md', 'utf8').matchAll(/^\| `(\w+)` +\| \w+ +\| ([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, name = '', labels = '']) => [name, [...labels.matchAll(/\w+/g)].map(([label]) => label)]),
  );
}

describe('alerts and dashboard', () => {
  let gateway: TestGateway;
  let metrics: Set<string>;
  const folder = mkdtempSync(join(tmpdir(), 'reeve-monitoring-'));
  beforeAll(async () => {
    const [database, nats] = await Promise.all([createDatabase(), sharedNats()]);
    // Only a gateway with NATS has the metrics of several gateways, and only one that forwards those of forwarding.
    gateway = await TestGateway.start({
      database,
      policies: { 'all.yaml': allowAll },
      env: { SVC_NATS_URL: nats.url(), SVC_FORWARD: `file:${join(folder, 'audit.jsonl')}` },
    });
    const text = await (await fetch(`${gateway.http}/metrics`)).text();
    metrics = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name));
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const queries = [...alertRules().map(({ expr }) => expr), ...dashboardQueries()];

  test('name only metrics that a gateway has', () => {
    const named = queries.flatMap(metricsIn).map(({ name }) => name);
    expect(new Set(named).size).toBeGreaterThan(30);
    expect(named.filter((name) => !metrics.has(name) && !added.metrics.has(name))).toEqual([]);
  });

  test('watch what could not be read', () => {
    const named = new Set(alertRules().flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name)));
    expect(named).toContain('reeve_unread_total');
  });

  test('watch forwarding and sign-on', () => {
    const named = new Set(alertRules().flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name)));
    const forwarding = [...metrics].filter((name) =>
      /^reeve_(forward_(?!entries_total|lag_entries)|sign_ons)/.test(name),
    );
    expect(forwarding).toHaveLength(5);
    expect(forwarding.filter((name) => !named.has(name))).toEqual([]);
  });

  test('match and group only by labels that the metric has', () => {
    const documented = documentedLabels();
    expect(documented.size).toBeGreaterThan(30);
    for (const { name, labels } of queries.flatMap(metricsIn)) {
      const known = documented.get(name) ?? [];
      expect(
        labels.filter((label) => !known.includes(label) && !added.labels.has(label)),
        name,
      ).toEqual([]);
    }
  });
});

test('every query has a metric in it, which the tests above would otherwise not see', () => {
  for (const query of [...alertRules().map(({ expr }) => expr), ...dashboardQueries()]) {
    expect(metricsIn(query).length, query).toBeGreaterThan(0);
  }
  expect(metricsIn('sum by (le, action) (rate(reeve_x_seconds_bucket{job="a",stage=~"b"}[1h]))')).toEqual([
    { name: 'reeve_x_seconds', labels: ['job', 'stage', 'le', 'action'] },
  ]);
});

test('every alert has a name of its own, a severity, and says what it means', () => {
  const rules = alertRules();
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(['warning', 'critical'], alert).toContain(labels.severity);
    expect(annotations.summary.length * annotations.description.length, alert).toBeGreaterThan(0);
  }
});

test('no two panels of the dashboard lie on each other', () => {
  const { panels, templating } = dashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance']);
  const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => [`${x + (index % w)} ${y + Math.floor(index / w)}`, title] as const),
  );
  const places = new Map<string, string>();
  for (const [place, title] of cells) {
    expect(places.get(place), `${title} at ${place}`).toBeUndefined();
    places.set(place, title);
  }
});
