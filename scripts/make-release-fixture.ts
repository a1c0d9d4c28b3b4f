// Keeps what a version of Reeve has stored, so that every later version can be tested to go on from it:
//   node scripts/make-release-fixture.ts                                   this version
//   node scripts/make-release-fixture.ts --reeve OTHER/node_modules/.bin/reeve --name 0.1.0-pre.7
// The result is tests/fixtures/releases/<name>: the embedded store, the same on PostgreSQL, and what must be found again.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import manifest from '../packages/gateway/package.json' with { type: 'json' };
import type { TestDatabase } from '../tests/harness/postgres.ts';
import { TestPostgres } from '../tests/harness/postgres.ts';
import type { Left } from './reference-life.ts';
import { live } from './reference-life.ts';
import { findPostgres } from './find-postgres.ts';

const { values } = parseArgs({
  options: { reeve: { type: 'string', default: 'node_modules/.bin/reeve' }, name: { type: 'string' } },
});
const folder = join('tests/fixtures/releases', values.name ?? manifest.version);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const expected = { sqlite: await keepSqlite(), postgres: await keepPostgres() };
writeFileSync(join(folder, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`);
process.stdout.write(`${folder}: ${JSON.stringify(expected)}\n`);

type Kept = Left & { readonly schema: number; readonly head: { readonly seq: number; readonly hash: string } };

async function keepSqlite(): Promise<Kept> {
  const data = mkdtempSync(join(tmpdir(), 'reeve-fixture-'));
  try {
    const left = await live(values.reeve, data);
    using db = new DatabaseSync(join(data, 'reeve.db'));
    const copy = join(data, 'copy.db');
    db.prepare('VACUUM INTO ?').run(copy);
    writeFileSync(join(folder, 'reeve.db.gz'), gzipSync(readFileSync(copy), { level: 9 }));
    const schema = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    const head = db.prepare('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1').get();
    return { ...left, schema, head: { ...head } as Kept['head'] };
  } finally {
    rmSync(data, { recursive: true });
  }
}

/** Null if that version knew no PostgreSQL. */
async function keepPostgres(): Promise<Kept | null> {
  await using server = await TestPostgres.start();
  const database = await server.createDatabase();
  const data = mkdtempSync(join(tmpdir(), 'reeve-fixture-'));
  try {
    const left = await live(values.reeve, data, database.url);
    writeFileSync(join(folder, 'database.sql.gz'), gzipSync(dumpOf(database), { level: 9 }));
    const [version] = await database.query('SELECT max(version)::int AS version FROM schema_versions');
    const [head] = await database.query('SELECT seq::int AS seq, hash FROM audit ORDER BY seq DESC LIMIT 1');
    return { ...left, schema: Number(version?.['version']), head: { ...head } as Kept['head'] };
  } catch (error) {
    process.stderr.write(`without PostgreSQL: ${String(error)}\n`);
    return null;
  } finally {
    rmSync(data, { recursive: true });
  }
}

/** The database as statements that any client can run: lines for psql alone are left out. */
function dumpOf({ url }: TestDatabase): string {
  const dump = join(findPostgres() ?? '', 'pg_dump');
  const options = ['--no-owner', '--no-comments', '--rows-per-insert=100'];
  const text = execFileSync(dump, [...options, url], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return text
    .split('\n')
    .filter((line) => !line.startsWith('\\') && !line.startsWith('--'))
    .join('\n');
}
