import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Cut, Verdict } from '@reeve/contract/audit';
import { EntryVerifier, judgeLog } from '@reeve/contract/audit';
import { BackupError } from '../adapters/backup/manifest.ts';
import { migrations } from '../adapters/sql/schema.ts';
import { StoredLog } from '../adapters/sql/stored-log.ts';

/** Public keys, as in a JWKS. */
type Jwks = readonly Readonly<Record<string, unknown>>[];

export interface VerifyPorts {
  /** Whether one of these keys has signed a cut of the log. */
  readonly isSigned: (cut: Cut, keys: Jwks) => boolean;
  /** Called now and then with the number of entries verified so far. */
  readonly onEntries?: ((entries: number) => void) | undefined;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

/** What the file of an embedded store holds. */
export interface VerifiedStore {
  readonly chain: Verdict;
  readonly counts: Readonly<Record<Counted, number>>;
}

type Counted = 'agents' | 'api_keys' | 'accounts' | 'policies' | 'operations';

const countSql: Readonly<Record<Counted, readonly [table: string, sql: string]>> = {
  agents: ['agents', 'SELECT count(*) AS n FROM agents'],
  api_keys: ['api_keys', 'SELECT count(*) AS n FROM api_keys WHERE revoked_at IS NULL'],
  accounts: ['accounts', 'SELECT count(*) AS n FROM accounts'],
  policies: ['policy_versions', 'SELECT count(DISTINCT name) AS n FROM policy_versions'],
  operations: ['ops', 'SELECT count(*) AS n FROM ops'],
};

/** Entries between two looks at the event loop, so that progress shows. */
const stretch = 2000;

/** Checks the file of a store without changing it: its pages, its version, and the whole chain. */
export async function verifyStore(path: string, { isSigned, onEntries, signal }: VerifyPorts): Promise<VerifiedStore> {
  using db = openStore(path);
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > migrations.length) {
    throw new BackupError(
      `its store has version ${version} and this Reeve knows up to ${migrations.length}: it was made by a newer release, which can restore it`,
    );
  }
  const fault = db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (fault !== 'ok') throw new BackupError(`its store is damaged: ${String(fault)}`);
  const verifier = new EntryVerifier();
  // One state of the file, whatever is written to it meanwhile.
  db.exec('BEGIN');
  for (const { canonical, hash: stated } of new StoredLog(db).after(0)) {
    const entry = verifier.read(`${canonical.slice(0, -1)},"hash":${JSON.stringify(stated)}}`);
    if (entry !== undefined) verifier.take(entry, hash('sha256', entry.canonical));
    if (verifier.broken !== undefined) break;
    if (verifier.entries % stretch !== 0) continue;
    onEntries?.(verifier.entries);
    await setImmediate();
    signal?.throwIfAborted();
  }
  const keys = db.prepare('SELECT public_jwk FROM signing_keys').all();
  const jwks = keys.map((row) => JSON.parse(String(row['public_jwk'])) as Jwks[number]);
  const chain = await judgeLog(verifier, (cut) => isSigned(cut, jwks), 'whole');
  return { chain, counts: countsIn(db) };
}

function openStore(path: string): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    db.prepare('SELECT 1 FROM audit LIMIT 1').get();
    return db;
  } catch (error) {
    throw new BackupError('its store cannot be opened: it is no store of Reeve, or damaged', { cause: error });
  }
}

/** Older versions lack some of the tables. */
function countsIn(db: DatabaseSync): VerifiedStore['counts'] {
  const tables = new Set(
    db
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .all()
      .map((row) => row['name']),
  );
  const counts = Object.entries(countSql).map(([name, [table, sql]]) => [
    name,
    tables.has(table) ? Number(db.prepare(sql).get()?.['n']) : 0,
  ]);
  return Object.fromEntries(counts) as Record<Counted, number>;
}
