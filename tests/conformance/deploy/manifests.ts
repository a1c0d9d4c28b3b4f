import { deepEqual, equal, ok } from 'node:assert/strict';
import { describeSettings } from '@reeve/gateway';
import { parse, parseAllDocuments } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: Selector | Readonly<Record<string, string>>;
    readonly template?: { readonly metadata: Pick<Manifest['metadata'], 'labels'>; readonly spec: PodSpec };
    readonly ports?: readonly { readonly name: string; readonly targetPort: string }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly [member: string]: unknown;
  };
  readonly data?: Readonly<Record<string, string>>;
}

interface Selector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string }[];
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly [probe: string]: unknown;
}

/** The versions of the API that each kind has in the Kubernetes versions that the chart is for. */
const versions: Readonly<Record<string, string>> = {
  ConfigMap: 'v1',
  Deployment: 'apps/v1',
  Ingress: 'networking.k8s.io/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  Service: 'v1',
  ServiceAccount: 'v1',
  ServiceMonitor: 'monitoring.coreos.com/v1',
  StatefulSet: 'apps/v1',
};

export function readManifests(text: string): Manifest[] {
  const documents = parseAllDocuments(text);
  ok(Array.isArray(documents));
  for (const { errors } of documents) deepEqual(errors, []);
  return documents.map((document) => document.toJS() as Manifest | null).filter((manifest) => manifest !== null);
}

/** What holds for the manifests of any values. */
export function assertManifests(manifests: readonly Manifest[]): Required<NonNullable<Manifest['spec']>>['template'] {
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  equal(new Set(names).size, names.length, `twice: ${names.join(', ')}`);
  for (const { kind, apiVersion, metadata } of manifests) {
    equal(apiVersion, versions[kind], kind);
    ok(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(metadata.name), metadata.name);
    equal(metadata.labels['app.kubernetes.io/name'], 'reeve', kind);
  }
  const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  equal(workloads.length, 1);
  const template = workloads[0]?.spec?.template;
  if (template === undefined) throw new Error('the workload has no pod');
  assertSelectors(manifests, template.metadata.labels);
  assertPod(template.spec, workloads[0]?.spec?.volumeClaimTemplates?.map(({ metadata }) => metadata.name) ?? []);
  assertSettings(manifests, template.spec.containers[0]);
  return template;
}

/** Service, budget, policy and workload select the pod. */
function assertSelectors(manifests: readonly Manifest[], labels: Readonly<Record<string, string>>): void {
  for (const { kind, spec } of manifests) {
    const selector = spec?.selector ?? (spec?.['podSelector'] as Selector | undefined);
    if (selector === undefined) continue;
    const wanted =
      'matchLabels' in selector ? (selector as Selector).matchLabels : (selector as Record<string, string>);
    for (const [label, value] of Object.entries(wanted)) equal(labels[label], value, `${kind} selects ${label}`);
  }
}

function assertPod(pod: PodSpec, claims: readonly string[]): void {
  equal(pod.automountServiceAccountToken, false);
  equal(pod.enableServiceLinks, false);
  equal(pod.securityContext['runAsNonRoot'], true);
  deepEqual(pod.securityContext['seccompProfile'], { type: 'RuntimeDefault' });
  const [container] = pod.containers;
  equal(container.securityContext['readOnlyRootFilesystem'], true);
  equal(container.securityContext['allowPrivilegeEscalation'], false);
  deepEqual(container.securityContext['capabilities'], { drop: ['ALL'] });
  const volumes = [...pod.volumes.map(({ name }) => name), ...claims];
  equal(new Set(volumes).size, volumes.length, volumes.join(', '));
  for (const { name } of container.volumeMounts) ok(volumes.includes(name), `the volume ${name} is missing`);
  ok(container.volumeMounts.some(({ mountPath }) => mountPath === '/var/lib/reeve'));
  const ports = new Set(container.ports.map(({ name }) => name));
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { httpGet, tcpSocket } = container[probe] as Record<string, { port: string } | undefined>;
    ok(ports.has((httpGet ?? tcpSocket)?.port ?? ''), probe);
  }
}

/** The settings of file and environment exist, and no secret stands in a manifest. */
function assertSettings(manifests: readonly Manifest[], container: Container): void {
  const settings = describeSettings();
  const variables = container.env.map(({ name }) => name).filter((name) => name.startsWith('SVC_'));
  for (const name of variables)
    ok(
      settings.some(({ variable }) => variable === name),
      `${name} does not exist`,
    );
  equal(new Set(variables).size, variables.length, variables.join(', '));
  const file = manifests.find(({ data }) => data?.['settings.yaml'] !== undefined)?.data?.['settings.yaml'] ?? '';
  for (const key of Object.keys(parse(file) as object)) {
    ok(
      settings.some((setting) => setting.key === key),
      `${key} does not exist`,
    );
  }
}
