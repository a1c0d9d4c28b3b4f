/**
 * Versions of stored documents, and the sets that were in force. A text that many sets share is stored once. The
 * `place` of a set counts up; that of a text is the newest place of a set that has it.
 */
export const policyTables = `
  CREATE TABLE policy_versions (
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    scope TEXT NOT NULL,
    source TEXT,
    record TEXT NOT NULL,
    PRIMARY KEY (name, version)
  );

  CREATE TABLE policy_sets (
    version TEXT PRIMARY KEY,
    place BIGINT NOT NULL,
    record TEXT NOT NULL
  );

  CREATE TABLE policy_texts (
    hash TEXT PRIMARY KEY,
    place BIGINT NOT NULL,
    text TEXT NOT NULL
  );
`;
