import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Decision } from '@reeve/contract';
import type { TokenShape } from '../../harness/authorization-server.ts';
import { TestHome } from '../../harness/cli.ts';
import { toolCall } from '../../harness/gateway.ts';
import type { Entry } from './guide-entry.ts';
import { guideEntry } from './guide-entry.ts';
import type { IssuerCase, IssuersWorld } from './issuers-world.ts';
import { Spire } from './spire.ts';
import { githubToken, gitlabToken, kubernetesToken } from './token-shapes.ts';

/** Workloads with the tokens of what runs them, by the entries of the guide. */
export function workloadCases(hasSpire: boolean): readonly IssuerCase[] {
  return [
    {
      name: 'a pod is its agent by the token of its service account',
      run: async (world) => {
        const keys = await (await fetch(`${world.provider.url}/jwks`)).text();
        writeFileSync(join(world.folder, 'cluster-keys.json'), keys);
        const token = await world.workloadToken(kubernetesToken('shop', 'support-bot'));
        await isAgent(world, guideEntry('Kubernetes'), token, 'acme/shop/support-bot');
      },
    },
    {
      name: 'a job of GitHub Actions on main is its agent, and one of a pull request or of others is nobody',
      run: async (world) => {
        const own = githubToken('acme/shop', 'refs/heads/main');
        await isAgent(world, withKeys(world, 'GitHub Actions'), await world.workloadToken(own), 'acme/ci/shop');
        await isNobody(world, 'acme/ci/shop', githubToken('acme/shop', 'refs/pull/7/merge'));
        await isNobody(world, 'acme/ci/shop', githubToken('evil/shop', 'refs/heads/main'));
      },
    },
    {
      name: 'a job of GitLab CI on a protected ref is its agent, and another one is nobody',
      run: async (world) => {
        const own = gitlabToken('acme/shop', 'main', true);
        await isAgent(world, withKeys(world, 'GitLab CI'), await world.workloadToken(own), 'acme/ci/shop');
        await isNobody(world, 'acme/ci/shop', gitlabToken('acme/shop', 'try', false));
        await isNobody(world, 'acme/ci/shop', gitlabToken('acme/sub/shop', 'main', true));
      },
    },
    ...(hasSpire ? [{ name: 'a process that SPIRE has attested is its agent by its JWT-SVID', run: isAttested }] : []),
  ];
}

async function isAttested(world: IssuersWorld): Promise<void> {
  const shown = guideEntry('SPIFFE');
  await using spire = await Spire.start(world.spire, String(shown['issuer']));
  await spire.register('spiffe://example.org/ns/shop/sa/packer');
  const token = await spire.fetchJwt('reeve');
  writeFileSync(join(world.folder, 'bundle.json'), await spire.bundle());
  const { jwks_uri: _, ...entry } = shown;
  await isAgent(world, { ...entry, jwks_file: 'bundle.json' }, token, 'acme/shop/packer');
  const foreign = await spire.fetchJwt('somebody-else');
  await assert.rejects(() => world.gateway.identify(foreign), /token is for another audience/);
}

/** The entry of the guide, with the address of the provider's keys. */
function withKeys({ provider }: IssuersWorld, section: string): Entry {
  return { ...guideEntry(section), jwks_uri: `${provider.url}/jwks` };
}

function registered(name: string, token: string) {
  const [orgId = '', teamId = '', agentId = ''] = name.split('/');
  return { id: { orgId, teamId, agentId }, token };
}

const work = { context: toolCall('work') };

/** The token is that of the agent, which `doctor` says, too. */
async function isAgent(world: IssuersWorld, entry: Entry, token: string, name: string): Promise<void> {
  await world.trust(entry, token);
  const { decision, reason } = await world.gateway.check(registered(name, token), work);
  assert.equal(decision, Decision.ALLOW, reason);
  const file = join(world.folder, 'token.jwt');
  writeFileSync(file, token);
  using home = new TestHome();
  const { code, stdout } = await home.run([
    'doctor',
    '--workload',
    file,
    '--workloads',
    world.workloadsFile,
    '-o',
    'json',
  ]);
  assert.equal(code, 0, stdout);
  assert.ok(stdout.includes(`the token is ${name} until`), stdout);
}

/** A token of the same issuer that no entry matches. */
async function isNobody(world: IssuersWorld, name: string, shape: TokenShape): Promise<void> {
  const { decision, reason } = await world.gateway.check(registered(name, await world.workloadToken(shape)), work);
  assert.deepEqual([decision, reason], [Decision.DENY, 'token matches no entry']);
}
