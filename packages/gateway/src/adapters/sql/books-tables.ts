/** What was spent, one row for each tier of each tenant; under an empty name, up to which entry that is true. */
export const booksTables = `
  CREATE TABLE books (
    name TEXT PRIMARY KEY,
    record TEXT NOT NULL
  );
`;
