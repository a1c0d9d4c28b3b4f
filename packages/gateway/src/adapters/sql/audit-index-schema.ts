import { frequentEvents } from './audit-query.ts';
import { packedSchema } from './packed-reader.ts';

export const schema = `
  PRAGMA ix.journal_mode = WAL;
  PRAGMA ix.synchronous = OFF;
  PRAGMA ix.cache_size = -32768;
  PRAGMA ix.wal_autocheckpoint = 8000;
  PRAGMA busy_timeout = 2000;
  PRAGMA temp_store = MEMORY;
  CREATE TABLE IF NOT EXISTS ix.by_org (org_id TEXT, seq INTEGER, PRIMARY KEY (org_id, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_agent (agent TEXT, seq INTEGER, PRIMARY KEY (agent, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_op (op_id TEXT, seq INTEGER, PRIMARY KEY (op_id, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_event (event_type TEXT, seq INTEGER, PRIMARY KEY (event_type, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_user (user TEXT, seq INTEGER, PRIMARY KEY (user, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_org_user (org_user TEXT, seq INTEGER, PRIMARY KEY (org_user, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_run (run TEXT, seq INTEGER, PRIMARY KEY (run, seq)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ix.by_time (first_seq INTEGER PRIMARY KEY, last_seq INTEGER, min_at INTEGER, max_at INTEGER);
  CREATE TABLE IF NOT EXISTS ix.progress (through INTEGER NOT NULL, hash TEXT NOT NULL, removed INTEGER NOT NULL);
  ${packedSchema}
`;

/** What is indexed, by number. An index of another one is made again. */
export const version = 1;

const frequent = frequentEvents.map((type) => `'${type}'`).join(', ');

/** Sorted, so that neighbours in an index are written together. */
export const indexings = [
  'INSERT OR IGNORE INTO ix.by_org SELECT org_id, seq FROM temp.step WHERE org_id IS NOT NULL ORDER BY org_id, seq',
  `INSERT OR IGNORE INTO ix.by_agent SELECT agent_id, seq FROM temp.step WHERE agent_id <> '' ORDER BY agent_id, seq`,
  'INSERT OR IGNORE INTO ix.by_op SELECT op_id, seq FROM temp.step WHERE op_id IS NOT NULL ORDER BY op_id, seq',
  `INSERT OR IGNORE INTO ix.by_event SELECT event_type, seq FROM temp.step WHERE event_type NOT IN (${frequent})
    ORDER BY event_type, seq`,
  // Subjects differ by letter case, but rarely by nothing else. The query compares the entry itself.
  `INSERT OR IGNORE INTO ix.by_user SELECT fold(user_sub) AS user, seq FROM temp.step WHERE user_sub IS NOT NULL
    UNION SELECT user_email, seq FROM temp.step WHERE user_email IS NOT NULL ORDER BY user, seq`,
  // No org has a line break in its id.
  `INSERT OR IGNORE INTO ix.by_org_user SELECT org_id || char(10) || fold(user_sub) AS org_user, seq FROM temp.step
    WHERE org_id IS NOT NULL AND user_sub IS NOT NULL
    UNION SELECT org_id || char(10) || user_email, seq FROM temp.step
    WHERE org_id IS NOT NULL AND user_email IS NOT NULL ORDER BY org_user, seq`,
  'INSERT OR IGNORE INTO ix.by_run SELECT run, seq FROM temp.step WHERE run IS NOT NULL ORDER BY run, seq',
  'INSERT OR REPLACE INTO ix.by_time SELECT min(seq), max(seq), min(at), max(at) FROM temp.step HAVING count(*) > 0',
];

export const tables = ['by_org', 'by_agent', 'by_op', 'by_event', 'by_user', 'by_org_user', 'by_run'];
