import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgres } from '../../scripts/find-postgres.ts';
import { useDatabase } from '../harness/databases.ts';
import { eventually } from '../harness/eventually.ts';
import { TestGateway } from '../harness/gateway.ts';
import { NetworkLink } from '../harness/network-link.ts';
import { createDatabase } from '../harness/postgres.ts';
import { Chance } from './chance.ts';
import { GatewayChild } from './gateway-child.ts';
import { loadEnv, loadPolicy, loadUntilGone } from './mixed-load.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver, unforeseenIn } from './part.ts';
import { Witness } from './witness.ts';

const policies = { 'load.yaml': loadPolicy };
const patienceMs = 60_000;

/** Full or read-only disks, and stores that are gone, back or slow. Calls fail closed, and nothing is lost. */
export async function disk(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const { tries, notRun } = possibleTries();
  const counts: Record<string, number> = { outages: 0 };
  const findings: string[] = [];
  for (let nth = 0; !isOver(limits, nth) && findings.length === 0; nth++) {
    const [name, attempt] = tries[nth % tries.length] ?? ['full file', fullFile];
    findings.push(...(await attempt(chance)).map((fault) => `${name}: ${fault}`));
    counts['outages'] = nth + 1;
    counts[name] = (counts[name] ?? 0) + 1;
    limits.say(`${nth + 1} outages, ${findings.length} findings`);
  }
  return { counts, findings, notRun };
}

type Try = (chance: Chance) => Promise<string[]>;

function possibleTries(): { tries: (readonly [string, Try])[]; notRun: string[] } {
  const tries: (readonly [string, Try])[] = [['full file', fullFile]];
  const notRun = ['a slow disk under SQLite: nothing here can slow one down'];
  if (canMount()) tries.push(['full disk', fullDisk], ['read-only disk', readOnlyDisk]);
  else notRun.push('a full and a read-only disk: mounting is not allowed here');
  if (findPostgres() === undefined) notRun.push('a store that is gone, back or slow: there is no PostgreSQL here');
  else tries.push(['store gone', storeGone], ['slow store', slowStore]);
  return { tries, notRun };
}

/** No file of the process may grow. To the store this is a full disk. */
async function fullFile(chance: Chance): Promise<string[]> {
  await using gateway = await TestGateway.start({ policies, env: loadEnv });
  const limit = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(gateway.child.pid), `--fsize=${bytes}:unlimited`]);
  return await duringOutage(
    gateway,
    chance,
    () => limit(String(1 + chance.below(200_000))),
    () => limit('unlimited'),
  );
}

async function fullDisk(chance: Chance): Promise<string[]> {
  await using mount = new SmallDisk(24);
  const gateway = await TestGateway.start({ folder: mount.folder, policies, env: loadEnv });
  try {
    const faults = await duringOutage(
      gateway,
      chance,
      () => mount.fill(),
      () => mount.free(),
    );
    if (faults.length > 0) return faults;
    mount.fill();
    await gateway.kill('SIGKILL');
    const refused = await startsOrRefuses(mount.folder);
    mount.free();
    return refused.length > 0 ? refused : await startsAndStops(mount.folder);
  } finally {
    await gateway.kill();
  }
}

async function readOnlyDisk(): Promise<string[]> {
  await using mount = new SmallDisk(24);
  const first = await startsAndStops(mount.folder);
  if (first.length > 0) return first;
  mount.remount('ro');
  const refused = await startsOrRefuses(mount.folder);
  mount.remount('rw');
  return refused.length > 0 ? refused : await startsAndStops(mount.folder);
}

async function storeGone(chance: Chance): Promise<string[]> {
  return throughLink(chance, (link, gateway) =>
    duringOutage(
      gateway,
      chance,
      () => link.cut(),
      () => link.mend(),
    ),
  );
}

/** Everything acknowledged over a slow link is stored, and nothing else goes wrong. */
async function slowStore(chance: Chance): Promise<string[]> {
  return throughLink(chance, (link, gateway) =>
    duringOutage(
      gateway,
      chance,
      () => link.delay(chance.between(50, 400)),
      () => link.delay(0),
    ),
  );
}

async function throughLink(
  chance: Chance,
  attempt: (link: NetworkLink, gateway: TestGateway, chance: Chance) => Promise<string[]>,
): Promise<string[]> {
  const database = await createDatabase();
  await using link = await NetworkLink.to({ http: database.url.replace('postgres:', 'http:') });
  const url = new URL(database.url);
  url.port = new URL(link.http).port;
  const gateway = await TestGateway.start({ database: { url: url.href }, policies, env: loadEnv });
  // Later reads of the store go to it directly: they block this process, which also runs the link.
  useDatabase(gateway.folder, database.url);
  try {
    return await attempt(link, gateway, chance);
  } finally {
    await gateway[Symbol.asyncDispose]();
    await database.drop();
  }
}

/** Load, then an outage, then its end. Service resumes, and everything acknowledged at any time is stored. */
async function duringOutage(
  gateway: TestGateway,
  chance: Chance,
  begin: () => void,
  end: () => void,
): Promise<string[]> {
  const witness = new Witness();
  const agent = await gateway.register({ agentId: 'worker' });
  witness.registered.push(agent);
  const loading = loadUntilGone({ gateway, agent, witness, chance: chance.fork(), name: 'before' });
  await sleep(chance.between(50, 400));
  begin();
  await sleep(chance.between(100, 1500));
  const during = loadUntilGone({ gateway, agent, witness, chance: chance.fork(), name: 'during' });
  await sleep(chance.between(0, 500));
  end();
  const back = await eventually(() => gateway.check(agent, { traceId: 'back', spanId: 'back' }), 600).catch(String);
  const faults = typeof back === 'string' ? [`service does not resume: ${back}`] : [];
  if (typeof back !== 'string') witness.decided(back);
  faults.push(...(await witness.faultsOfRunning(gateway)));
  const code = await gateway.kill('SIGTERM');
  await Promise.all([loading, during]);
  const { stderr } = gateway.output();
  if (code !== 0) faults.push(`SIGTERM after an outage: exit ${code}: ${stderr.slice(-1000)}`);
  faults.push(...unforeseenIn(stderr));
  return [...faults, ...witness.faultsOf(gateway.folder)];
}

/** A start that cannot succeed says so in one line, and ends. */
async function startsOrRefuses(folder: string): Promise<string[]> {
  const child = new GatewayChild({ folder });
  const listens = await child.listens();
  if (listens) child.signal('SIGTERM');
  const end = await child.ended(patienceMs);
  if (end === undefined) return ['the gateway neither starts nor ends'];
  if (/^\s+at .+:\d+:\d+\)?$/m.test(end.stderr))
    return [`a stack trace instead of one line: ${end.stderr.slice(-2000)}`];
  if (!listens && (end.code !== 1 || !end.stderr.includes('reeve serve: '))) {
    return [`the start ends with ${end.code} and says: ${end.stderr.slice(-2000)}`];
  }
  return [];
}

async function startsAndStops(folder: string): Promise<string[]> {
  const child = new GatewayChild({ folder });
  const listens = await child.listens();
  child.signal('SIGTERM');
  const end = await child.ended(patienceMs);
  return listens && end?.code === 0 ? [] : [`the gateway does not start and stop: ${end?.stderr.slice(-2000) ?? ''}`];
}

function canMount(): boolean {
  try {
    const mount = new SmallDisk(1);
    mount.end();
    return true;
  } catch {
    return false;
  }
}

/** An in-memory disk of this many MiB. */
class SmallDisk implements AsyncDisposable {
  readonly folder: string;
  readonly #place = mkdtempSync(join(tmpdir(), 'reeve-disk-'));

  constructor(mebibytes: number) {
    run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'reeve-trust', this.#place);
    this.folder = join(this.#place, 'data');
    mkdirSync(join(this.folder, 'policies'), { recursive: true });
  }

  fill(): void {
    try {
      for (let nth = 0; ; nth++) writeFileSync(join(this.#place, `filler-${nth}`), Buffer.alloc(2 ** 18));
    } catch {
      // Full.
    }
  }

  free(): void {
    spawnSync('sh', ['-c', 'rm -f "$0"/filler-*', this.#place]);
  }

  remount(how: 'ro' | 'rw'): void {
    run('mount', '-o', `remount,${how}`, this.#place);
  }

  end(): void {
    run('umount', this.#place);
    rmSync(this.#place, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await eventually(() => this.end());
  }
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
