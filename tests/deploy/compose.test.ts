import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readYaml, unknownVariables, variables } from './deploy-files.ts';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly restart: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, null>>;
}

/** The members of a service that the files use. A typing error in one is a member that is not here. */
const members = new Set([
  ...['build', 'cap_drop', 'command', 'depends_on', 'environment', 'healthcheck', 'image', 'ports', 'read_only'],
  ...['restart', 'security_opt', 'stop_grace_period', 'tmpfs', 'volumes'],
]);

describe.each(['compose.yaml', 'compose.cluster.yaml'])('%s', (name) => {
  const file = join('deploy', name);
  const { services, volumes = {} } = readYaml(file) as Compose;
  const gateways = Object.entries(services).filter(([service]) => service.startsWith('gateway'));

  test('has members that Compose knows, and services that depend on what is there', () => {
    for (const [service, content] of Object.entries(services)) {
      expect(
        Object.keys(content).filter((key) => !members.has(key)),
        service,
      ).toEqual([]);
      const needed = Array.isArray(content.depends_on) ? content.depends_on : Object.keys(content.depends_on ?? {});
      expect(
        needed.filter((other) => !(String(other) in services)),
        service,
      ).toEqual([]);
      expect(content.restart, service).toBe('unless-stopped');
    }
  });

  test('mounts files that are there, and volumes that it declares', () => {
    for (const volume of Object.values(services).flatMap((service) => service.volumes ?? [])) {
      const [source = ''] = volume.split(':');
      expect(source.startsWith('.') ? existsSync(join('deploy', source)) : source in volumes, volume).toBe(true);
    }
  });

  test('publishes on loopback alone, and pins the images of others by a tag', () => {
    for (const [service, { ports = [], image, build }] of Object.entries(services)) {
      for (const port of ports) expect(port, service).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
      if (build === undefined) expect(image, service).toMatch(/^[a-z]+:\d/);
    }
  });

  test('gives gateways only settings that exist', () => {
    expect(gateways.length).toBeGreaterThan(0);
    for (const [service, { environment = {} }] of gateways) {
      expect(
        Object.keys(environment).filter((variable) => !variables.has(variable)),
        service,
      ).toEqual([]);
    }
    expect(unknownVariables(readFileSync(file, 'utf8'))).toEqual([]);
  });

  test('builds the image, and runs it without rights on a root that cannot be written', () => {
    for (const [service, content] of gateways) {
      expect(content.build, service).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' });
      expect(content, service).toMatchObject({ read_only: true, cap_drop: ['ALL'], stop_grace_period: '30s' });
      expect(content.security_opt, service).toContain('no-new-privileges:true');
      const writable = [
        ...(content.tmpfs ?? []),
        ...(content.volumes ?? []).map((volume) => volume.split(':')[1] ?? ''),
      ];
      expect(
        writable.some((path) => path.startsWith('/var/lib/reeve')),
        service,
      ).toBe(true);
      expect(content.tmpfs, service).toContain('/tmp');
    }
  });
});

test('the load balancer has a place for every gateway of the cluster, and a variable for every name that it uses', () => {
  const { services } = readYaml('deploy/compose.cluster.yaml') as Compose;
  const balancer = readFileSync('deploy/haproxy.cfg', 'utf8');
  const used = new Set([...balancer.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name));
  expect(Object.keys(services['balancer']?.environment ?? {}).toSorted()).toEqual([...used].toSorted());
  const hosts = Object.values(services['balancer']?.environment ?? {}).filter((host) => host.startsWith('gateway'));
  expect(hosts).toEqual(Object.keys(services).filter((name) => name.startsWith('gateway')));
});
