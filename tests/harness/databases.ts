import { createDatabase } from './postgres.ts';

/** The PostgreSQL databases of gateways, by folder. */
const databases = new Map<string, string>();

export function databaseOf(folder: string): string | undefined {
  return databases.get(folder);
}

export function useDatabase(folder: string, url: string): void {
  databases.set(folder, url);
}

/** With REEVE_TEST_STORE=postgres every gateway without an explicit store runs on PostgreSQL. */
export async function defaultDatabase(folder: string): Promise<string | undefined> {
  if (process.env['REEVE_TEST_STORE'] !== 'postgres') return undefined;
  return databases.get(folder) ?? (await createDatabase()).url;
}
