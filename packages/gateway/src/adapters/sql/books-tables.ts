/** What was spent, one row for each tier of each tenant; under an empty name, up to which entry that is true. */
export const booksTables = `
  CREATE TABLE books (
    name TEXT PRIMARY KEY,
    record TEXT NOT NULL
  );
`;

/** What each tier has spent in days and months that are over: one row for each. */
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
