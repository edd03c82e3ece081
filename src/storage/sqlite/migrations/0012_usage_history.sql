-- The key 0 stands for all keys of production together, and -1 for those of staging. Hours and days count from 1970.
CREATE TABLE usage_hours (
  key_id       INTEGER NOT NULL,
  hour         INTEGER NOT NULL,
  operation    TEXT    NOT NULL,
  ok           INTEGER NOT NULL,
  client_error INTEGER NOT NULL,
  refused      INTEGER NOT NULL,
  server_error INTEGER NOT NULL,
  PRIMARY KEY (key_id, hour, operation)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_days (
  key_id       INTEGER NOT NULL,
  day          INTEGER NOT NULL,
  operation    TEXT    NOT NULL,
  ok           INTEGER NOT NULL,
  client_error INTEGER NOT NULL,
  refused      INTEGER NOT NULL,
  server_error INTEGER NOT NULL,
  PRIMARY KEY (key_id, day, operation)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_days_by_operation ON usage_days (operation, day);

-- The last batch that each process wrote, so that a batch counts once even if its answer was lost.
CREATE TABLE usage_writers (
  writer     TEXT    PRIMARY KEY,
  sequence   INTEGER NOT NULL,
  written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
