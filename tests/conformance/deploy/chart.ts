import { equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { goTool } from '../tools.ts';
import { assertManifests, readManifests } from './manifests.ts';
import type { Trials } from './trials.ts';

const run = promisify(execFile);
const chart = 'deploy/helm/reeve';
const full = ['--values', `${chart}/ci/full-values.yaml`];
/** A Helm that Go has built takes an old version for that of the cluster. */
const kubernetes = ['--kube-version', '1.31.0'];

/** `helm lint`, and `helm template` for the default values and for all of them. */
export async function tryChart({ say, trial, uses, missing }: Trials): Promise<void> {
  const helm = await goTool('helm.sh/helm/v3/cmd/helm', 'helm.sh/helm/v3', say);
  if ('missing' in helm) return missing(helm.missing);
  uses('Helm', helm.version);
  const render = async (...args: string[]) => {
    const { stdout } = await run(helm.path, ['template', 'r', chart, '--namespace', 'ns', ...kubernetes, ...args]);
    return readManifests(stdout);
  };
  const refuses = async (what: RegExp, ...args: string[]) => {
    const { stderr } = await run(helm.path, ['template', 'r', chart, ...kubernetes, ...args]).then(
      () => ({ stderr: 'it was accepted' }),
      (error: { stderr: string }) => error,
    );
    match(stderr, what);
  };

  await trial('helm lint --strict finds nothing, with default and with all values', async () => {
    for (const args of [[], full]) await run(helm.path, ['lint', '--strict', chart, ...args]);
  });
  await trial('with default values: one gateway with a volume', async () => {
    const manifests = await render();
    const kinds = manifests.map(({ kind }) => kind).toSorted();
    equal(kinds.join(' '), 'ConfigMap NetworkPolicy Service ServiceAccount StatefulSet');
    const { spec } = assertManifests(manifests);
    ok('httpGet' in (spec.containers[0]['readinessProbe'] as object));
  });
  await trial('with all values: three gateways, TLS, secrets, ingresses, budget, network policy, monitor', async () => {
    const manifests = await render(...full);
    const { spec } = assertManifests(manifests);
    const [container] = spec.containers;
    const of = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
    equal(of('Deployment')[0]?.spec?.replicas, 3);
    for (const [kind, count] of Object.entries({ Ingress: 2, ServiceMonitor: 1, PodDisruptionBudget: 1 })) {
      equal(of(kind).length, count, kind);
    }
    for (const name of ['SVC_DATABASE_URL', 'SVC_NATS_URL', 'SVC_BOOTSTRAP_API_KEY', 'SVC_SMTP_PASS']) {
      ok('secretKeyRef' in (container.env.find((variable) => variable.name === name)?.valueFrom ?? {}), name);
    }
    match(JSON.stringify(container['livenessProbe']), /"scheme":"HTTPS"/);
    ok('tcpSocket' in (container['readinessProbe'] as object), 'NATS away would make all of them unready');
  });
  await trial('with PostgreSQL alone: one gateway that is never beside another', async () => {
    const manifests = await render('--set', 'database.existingSecret=db');
    assertManifests(manifests);
    const deployment = manifests.find(({ kind }) => kind === 'Deployment');
    equal(JSON.stringify(deployment?.spec?.['strategy']), '{"type":"Recreate"}');
  });
  await trial('values that cannot work are refused, and the message says why', async () => {
    await refuses(/more than one gateway needs/, '--set', 'replicas=3');
    await refuses(/NATS needs PostgreSQL/, '--set', 'nats.existingSecret=n');
    await refuses(/settings\.database_url: .*secretSettings/, '--set', 'settings.database_url=postgres://h/d');
    await refuses(/ingress\/host/, '--set', 'ingress.enabled=true');
    await refuses(/additional properties 'replica' not allowed/, '--set', 'replica=2');
  });
}
