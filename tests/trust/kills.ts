import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgres } from '../../scripts/find-postgres.ts';
import type { TestGateway } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { postgresStore, sqliteStore } from '../harness/stores.ts';
import { Chance } from './chance.ts';
import { loadEnv, loadPolicy, loadUntilGone } from './mixed-load.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver, unforeseenIn } from './part.ts';
import { Witness } from './witness.ts';

/** After this many kills a store is checked completely and replaced, because recovery would take ever longer. */
const killsPerStore = 25;
/** Two cores, two gateways. */
const lanes = 2;

interface Tally {
  kills: number;
  acknowledged: number;
  stores: number;
  readonly findings: string[];
}

/** Kills gateways under load. Everything they acknowledged must be in the store, once, and the store must be intact. */
export async function kills(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const tally: Tally = { kills: 0, acknowledged: 0, stores: 0, findings: [] };
  const chances = Array.from({ length: Math.min(lanes, limits.most) }, () => chance.fork());
  await Promise.all(chances.map((each, lane) => killInLane(limits, each, tally, lane)));
  const { findings, ...counts } = tally;
  const notRun = findPostgres() === undefined ? ['PostgreSQL: there is no server on this machine'] : [];
  return { counts, findings, notRun };
}

async function killInLane(limits: Limits, chance: Chance, tally: Tally, lane: number): Promise<void> {
  for (let nth = 0; !isOver(limits, tally.kills) && tally.findings.length === 0; nth++) {
    // Every fourth store is PostgreSQL, if it is available.
    const onPostgres = (nth * lanes + lane) % 4 === 3 && findPostgres() !== undefined;
    await using store = await (onPostgres ? postgresStore : sqliteStore).open();
    await killOnStore(limits, store, chance, tally);
    tally.stores++;
    limits.say(`${tally.kills} kills, ${tally.acknowledged} acknowledgements, ${tally.findings.length} findings`);
  }
}

async function killOnStore(limits: Limits, store: TestStore, chance: Chance, tally: Tally): Promise<void> {
  const witness = new Witness();
  const options = { policies: { 'load.yaml': loadPolicy }, env: loadEnv };
  let gateway = await store.start(options);
  const agent = await gateway.register({ agentId: 'worker' });
  witness.registered.push(agent);
  for (let round = 0; round < killsPerStore && !isOver(limits, tally.kills); round++) {
    // Counted before it happens, so that the other lane does not start one too many.
    tally.kills++;
    const loading = loadUntilGone({ gateway, agent, witness, chance: chance.fork(), name: `r${round}` });
    await sleep(chance.between(20, 350));
    await gateway.kill('SIGKILL');
    await loading;
    gateway = await store.start({ ...options, policies: {} });
    tally.findings.push(...(await witness.faultsOfRunning(gateway)));
  }
  tally.acknowledged += witness.acknowledged;
  tally.findings.push(...(await endOf(gateway, witness)));
}

async function endOf(gateway: TestGateway, witness: Witness): Promise<string[]> {
  const code = await gateway.kill('SIGTERM');
  const { stderr } = gateway.output();
  return [
    ...(code === 0 ? [] : [`SIGTERM after kills: the gateway ended with ${code}: ${stderr.slice(-500)}`]),
    ...unforeseenIn(stderr),
    ...witness.faultsOf(gateway.folder),
  ];
}
