/**
 * The balances: one row for each tier of each tenant. The row with an empty name holds the entry up to which they are
 * true.
 */
export const balanceTables = `
  CREATE TABLE books (
    name TEXT PRIMARY KEY,
    record TEXT NOT NULL
  );
`;

/** The closed balances: what each tier has spent in past days and months, one row for each. */
export const closedPeriodTables = `
  CREATE TABLE closed_books (
    name TEXT NOT NULL,
    period TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (name, period, id)
  ) WITHOUT ROWID;
  CREATE INDEX closed_books_by_age ON closed_books (period, id);
`;
