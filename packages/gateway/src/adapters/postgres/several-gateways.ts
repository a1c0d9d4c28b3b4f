/**
 * The gateway in a slot that reads facts in their compact form. It names itself: one of 0.1.0 that takes the slot after it does
 * not change this column.
 */
export const compactReaderColumn = 'ALTER TABLE gateways ADD COLUMN compact_reader TEXT COLLATE "C"';

/**
 * Before, each gateway had its own rows, marked by its seat. Now all gateways know all rows, and every commit has a
 * number. Where two seats had the same row, the newest counts. Balances of several seats are added up from the log.
 */
export const rowsOfAll = `
  ALTER TABLE chain ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE chain ADD COLUMN events BIGINT NOT NULL DEFAULT 0;
  UPDATE chain SET events = COALESCE((SELECT max(event_ids_reserved) FROM seats), 0);

  CREATE TABLE commits (
    version BIGINT PRIMARY KEY,
    gateway TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    hash TEXT COLLATE "C" NOT NULL,
    events BIGINT NOT NULL,
    told TEXT NOT NULL
  );

  UPDATE meta SET value = (SELECT min(ops_replay_from)::text FROM seats)
    WHERE name = 'ops_replay_from' AND EXISTS (SELECT 1 FROM seats);
  DELETE FROM meta WHERE name = 'event_ids_reserved';

  DELETE FROM ops AS old USING ops AS newer
    WHERE (old.org_id, old.team_id, old.agent_id, old.op_id) = (newer.org_id, newer.team_id, newer.agent_id, newer.op_id)
      AND (old.seq, old.seat) < (newer.seq, newer.seat);
  ALTER TABLE ops DROP CONSTRAINT ops_pkey;
  ALTER TABLE ops DROP COLUMN seat;
  ALTER TABLE ops ADD PRIMARY KEY (org_id, team_id, agent_id, op_id);

  DO $$
  BEGIN
    IF (SELECT count(DISTINCT seat) FROM books) > 1 THEN
      IF (SELECT min(seq) FROM audit) > 1 THEN
        RAISE EXCEPTION 'several gateways have spent on this database, and its log has been cut, so that their balances cannot be added up; start one gateway of the last release after the other until only one seat is left';
      END IF;
      DELETE FROM books;
      DELETE FROM closed_books;
    END IF;
  END $$;
  ALTER TABLE books DROP CONSTRAINT books_pkey;
  ALTER TABLE books DROP COLUMN seat;
  ALTER TABLE books ADD PRIMARY KEY (name);
  DELETE FROM closed_books AS old USING closed_books AS newer
    WHERE (old.name, old.period, old.id) = (newer.name, newer.period, newer.id) AND old.seat < newer.seat;
  ALTER TABLE closed_books DROP CONSTRAINT closed_books_pkey;
  ALTER TABLE closed_books DROP COLUMN seat;
  ALTER TABLE closed_books ADD PRIMARY KEY (name, period, id);

  ALTER TABLE approvals DROP COLUMN seat;
  ALTER TABLE standing_grants DROP COLUMN seat;

  DROP INDEX control_receipts_by_sequence;
  ALTER TABLE control_receipts DROP COLUMN seat;
  CREATE INDEX control_receipts_by_sequence ON control_receipts (org_id, team_id, agent_id, sequence);
  DELETE FROM control_sequences AS old USING control_sequences AS newer
    WHERE (old.org_id, old.team_id, old.agent_id) = (newer.org_id, newer.team_id, newer.agent_id)
      AND (old.sequence, old.seat) < (newer.sequence, newer.seat);
  ALTER TABLE control_sequences DROP CONSTRAINT control_sequences_pkey;
  ALTER TABLE control_sequences DROP COLUMN seat;
  ALTER TABLE control_sequences ADD PRIMARY KEY (org_id, team_id, agent_id);

  ALTER TABLE audit DROP COLUMN seat;

  DROP TABLE seats;
  CREATE TABLE gateways (
    seat BIGINT PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    version TEXT NOT NULL,
    hears_others BOOLEAN NOT NULL,
    started_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    seen_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    is_leaving BOOLEAN NOT NULL DEFAULT false,
    agents BIGINT NOT NULL DEFAULT 0,
    ops_in_flight BIGINT NOT NULL DEFAULT 0
  );

  CREATE TABLE tickets (
    hash TEXT COLLATE "C" PRIMARY KEY,
    principal TEXT NOT NULL,
    ends_at TIMESTAMPTZ NOT NULL
  );
`;
