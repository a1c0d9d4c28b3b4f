import type { Row } from '@reeve/core';
import type { SqlSession } from '../sql/sql-database.ts';

/** Rows up to this size are read together. Larger rows come from an earlier version, and there may be many. */
const largeRow = 256 * 1024;

/**
 * The rows of a query, each read by `itemOf`. Rows with a large `record` are read one by one, so that memory never
 * holds their stored forms together. The query runs on one state of the database.
 */
export async function eachRow<Item>(
  sql: Pick<SqlSession, 'all'>,
  question: string,
  key: readonly string[],
  itemOf: (row: Row) => Item,
): Promise<Item[]> {
  const from = `FROM (${question}) AS asked WHERE octet_length(record)`;
  const items = (await sql.all(`SELECT * ${from} <= ${largeRow}`)).map(itemOf);
  const [counted] = await sql.all(`SELECT count(*) AS count ${from} > ${largeRow}`);
  for (let at = 0; at < Number(counted?.['count'] ?? 0); at++) {
    const large = `SELECT * ${from} > ${largeRow} ORDER BY ${key.join(', ')} LIMIT 1 OFFSET ?`;
    items.push(...(await sql.all(large, at)).map(itemOf));
  }
  return items;
}
