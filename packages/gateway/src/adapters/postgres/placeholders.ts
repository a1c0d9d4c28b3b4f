/** Portable SQL has `?` for each value; PostgreSQL numbers them. Reeve's SQL has no question mark inside a text. */
export function placeholders(sql: string): string {
  const known = remembered.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const text = sql.replaceAll('?', () => `$${++count}`);
  remembered.set(sql, text);
  return text;
}

const remembered = new Map<string, string>();
