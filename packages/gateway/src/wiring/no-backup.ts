/** Why the stores beside the embedded one have no backup of the gateway's own. */
export const noBackup = {
  memory: 'this gateway keeps nothing (SVC_DATABASE_URL is memory:), so there is nothing to back up',
  postgres:
    'the store is a PostgreSQL database: back it up with pg_dump, or with a base backup and its write-ahead log, and start with --restored after you have restored it',
};
