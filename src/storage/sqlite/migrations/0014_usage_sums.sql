-- The hours of a day in one row take a tenth of the space. `hours` is JSON: [[hour of the day, ok, clientError, refused,
-- serverError], …], ascending. No released version has written hours.
DROP TABLE usage_hours;

CREATE TABLE usage_hours (
  key_id    INTEGER NOT NULL,
  day       INTEGER NOT NULL,
  operation TEXT    NOT NULL,
  hours     TEXT    NOT NULL,
  PRIMARY KEY (key_id, day, operation)
) STRICT, WITHOUT ROWID;

-- All operations together, so that a chart of all accounts reads fewer rows. Weeks of seven days count from 1970.
CREATE TABLE usage_weeks (
  key_id       INTEGER NOT NULL,
  week         INTEGER NOT NULL,
  ok           INTEGER NOT NULL,
  client_error INTEGER NOT NULL,
  refused      INTEGER NOT NULL,
  server_error INTEGER NOT NULL,
  PRIMARY KEY (key_id, week)
) STRICT, WITHOUT ROWID;

INSERT INTO usage_weeks
  SELECT key_id, day / 7, sum(ok), sum(client_error), sum(refused), sum(server_error)
  FROM usage_days WHERE key_id > 0 GROUP BY key_id, day / 7;

DROP INDEX usage_days_by_operation;
