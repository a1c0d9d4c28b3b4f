import { commitByHand } from '../cluster/commit-by-hand.ts';
import type { Pair } from '../cluster/pair.ts';
import { startPair } from '../cluster/pair.ts';
import { makeKey, registerAs } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { Chance } from './chance.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver, unforeseenIn } from './part.ts';

const names = [
  '$big',
  '$ref',
  'constructor',
  'toString',
  'toJSON',
  'steps',
  'touched',
  'kind',
  'spent',
  '0',
  '',
] as const;
const texts = [
  'x',
  '12',
  '-1',
  '{"$big":"1"}',
  '\0',
  '\u0001',
  '\uFFFD',
  '9'.repeat(400),
  '__proto__',
  '}',
  '"',
] as const;
/** How many rounds two gateways go through before they are looked at by a third. */
const roundsOfPair = 10;

/** A tenant registers what a codec might misread, and commits are damaged. Another tenant must not notice. */
export async function poison(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const counts = { registrations: 0, 'damaged commits': 0, starts: 0 };
  const findings: string[] = [];
  while (!isOver(limits, counts.registrations) && findings.length === 0) {
    await using pair = await startPair();
    const bystander = await pair.one.register({ orgId: 'other', agentId: 'bystander' });
    const { key } = await makeKey(pair.one, { scopes: ['read', 'write'], org_id: 'acme', team_id: 'core' });
    for (let round = 0; round === 0 || (round < roundsOfPair && !isOver(limits, counts.registrations)); round++) {
      findings.push(...(await register(pair, chance, key, `victim-${round}`)));
      counts.registrations++;
    }
    for (let round = 0; round < roundsOfPair && findings.length === 0; round++) {
      if (round > 0 && isOver(limits, 0)) break;
      const told = damaged(await newestCommit(pair), chance);
      await commitByHand(pair.database, { told });
      counts['damaged commits']++;
      findings.push(...(await faultsOf(pair, bystander)).map((fault) => `${fault}, after the commit ${told}`));
    }
    await using later = await TestGateway.start(pair.options);
    counts.starts++;
    if ((await later.check(bystander)).decision !== 1) findings.push('a new gateway denies what another tenant may do');
    limits.say(
      `${counts.registrations} registrations, ${counts['damaged commits']} commits, ${findings.length} findings`,
    );
  }
  return { counts, findings, notRun: [] };
}

async function register({ one, two }: Pair, chance: Chance, key: string, agentId: string): Promise<string[]> {
  const members = Array.from(
    { length: 1 + chance.below(4) },
    () => [chance.oneOf(names), chance.oneOf(texts)] as const,
  );
  const metadata = Object.fromEntries(members);
  const { credentialToken: token } = await registerAs(one, key, { agentId }, { metadata });
  const agent = { id: { orgId: 'acme', teamId: 'core', agentId }, token };
  const held = await Promise.all([one, two].map((gateway) => metadataAt(gateway, agentId)));
  const path = `/api/v1/agents/acme/core/${agentId}/suspend`;
  const { status } = await two.api.post(path, bootstrapKey, {});
  const { reason } = await one.check(agent);
  const isRight = status === 200 && reason === 'agent is suspended';
  const isEqual = held.every((each) => JSON.stringify(each) === JSON.stringify(metadata));
  return isRight && isEqual ? [] : [`metadata is not only text: ${JSON.stringify({ metadata, held, status, reason })}`];
}

async function metadataAt({ api }: TestGateway, agentId: string): Promise<unknown> {
  const { body } = await api.get<{ metadata: unknown }>(`/api/v1/agents/acme/core/${agentId}`, bootstrapKey);
  return body.metadata;
}

/** The text of the newest commit that touches only the tenant under attack. */
async function newestCommit({ database }: Pair): Promise<string> {
  const [row] = await database.query(
    `SELECT told FROM commits WHERE told LIKE '%"orgs":["acme"],"everything":false%' AND gateway NOT LIKE 'by hand/%'
      ORDER BY version DESC LIMIT 1`,
  );
  return String(row?.['told']);
}

/** Changes, cuts or repeats a piece, and leaves alone whom the commit touches. */
function damaged(text: string, chance: Chance): string {
  const end = text.lastIndexOf(',"touched"');
  const at = chance.below(end);
  const length = chance.below(12);
  const piece = text.slice(at, Math.min(end, at + length));
  const other = chance.oneOf(['', ' ', 'null', '[]', '5', '"x"', '{', piece + piece, '1e999']);
  return text.slice(0, at) + other + text.slice(at + piece.length);
}

async function faultsOf({ one, two }: Pair, bystander: Registered): Promise<string[]> {
  const faults: string[] = [];
  for (const gateway of [one, two]) {
    const answer = await gateway.check(bystander).catch((error: unknown) => ({ decision: 0, reason: String(error) }));
    if (answer.decision !== 1) faults.push(`another tenant is refused: ${answer.reason}`);
    if (gateway.child.exitCode !== null) faults.push(`a gateway has ended: ${gateway.output().stderr.slice(-1000)}`);
    faults.push(...unforeseenIn(gateway.output().stderr));
  }
  return faults;
}
