/** One row for each target that was ever configured. The key gives no credentials away. */
export const forwardTables = `
  CREATE TABLE forward_positions (
    target TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) WITHOUT ROWID;
`;
