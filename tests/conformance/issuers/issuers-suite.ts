import { readFileSync } from 'node:fs';
import type { ForeignSuite } from '../foreign-suite.ts';
import { goModule } from '../tools.ts';
import type { IssuerCase } from './issuers-world.ts';
import { IssuersWorld } from './issuers-world.ts';
import { personCases } from './person-cases.ts';
import { workloadCases } from './workload-cases.ts';

const spire = { module: 'github.com/spiffe/spire', version: 'v1.13.3', programs: ['spire-server', 'spire-agent'] };

function providerVersion(): string {
  const about = readFileSync('node_modules/oidc-provider/package.json', 'utf8');
  return (JSON.parse(about) as { version: string }).version;
}

/** Users and workloads whose tokens come from issuers that others wrote, on loopback. */
export const issuersSuite: ForeignSuite = {
  name: 'issuers',
  about: `Tokens of issuers that others wrote, on loopback. [oidc-provider](https://github.com/panva/node-oidc-provider), a
certified OpenID provider, signs people in and issues their tokens, rotates its keys under a running gateway, and is the
authorization server in front of \`reeve mcp serve\`. A server and an agent of [SPIRE](https://spiffe.io), ${spire.version}, built
from source, attest a process and issue its JWT-SVIDs. For Kubernetes, GitHub Actions and GitLab CI, oidc-provider signs tokens with the
claims that these document; the services themselves are not asked. The entries for workloads are those of
[the guide](guides/workloads.md), to the letter; where an entry names an address for keys, that of the issuer on loopback takes
its place, or for SPIRE a file with its bundle.`,
  async prepare(say) {
    const built = await goModule(spire.module, spire.version, spire.programs, say);
    // What oidc-provider issues can be tested without it.
    if ('missing' in built) say(`not run: ${built.missing}`);
    return { path: 'missing' in built ? '' : built.path, version: `${providerVersion()} of oidc-provider` };
  },
  async run(path, say) {
    await using world = await IssuersWorld.start(path);
    const failures: string[] = [];
    let passed = 0;
    const cases: readonly IssuerCase[] = [...personCases, ...workloadCases(path !== '')];
    for (const { name, run } of cases) {
      try {
        await run(world);
        passed += 1;
        say(`ok   issuers: ${name}`);
      } catch (error) {
        failures.push(`${name} (${error instanceof Error ? error.message : String(error)})`);
      }
    }
    return {
      counts: { 'cases that pass': passed, 'cases that need SPIRE, and did not run': path === '' ? 1 : 0 },
      passed,
      failures,
    };
  },
};
