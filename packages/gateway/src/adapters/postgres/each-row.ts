import type { Row } from '@reeve/core';
import type { SqlSession, SqlValue } from '../sql/sql-database.ts';

/** Rows up to this size are read together. Larger rows come from an earlier version, and there may be many. */
const largeRow = 256 * 1024;

/**
 * The rows of a query, each read by `itemOf`. Rows with a large `record` are read one by one, so that memory never
 * holds their stored forms together. The query ends with a condition and runs on one state of the database.
 */
export async function eachRow<Item>(
  sql: Pick<SqlSession, 'all'>,
  question: string,
  value: SqlValue,
  itemOf: (row: Row) => Item,
): Promise<Item[]> {
  const items = (await sql.all(`${question} AND octet_length(record) <= ${largeRow}`, value)).map(itemOf);
  const large = `${question} AND octet_length(record) > ${largeRow} ORDER BY ctid`;
  const [counted] = await sql.all(`SELECT count(*) AS count FROM (${large}) AS large`, value);
  for (let at = 0; at < Number(counted?.['count'] ?? 0); at++) {
    items.push(...(await sql.all(`${large} LIMIT 1 OFFSET ?`, value, at)).map(itemOf));
  }
  return items;
}
