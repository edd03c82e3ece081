-- The hours of a day in one row take a tenth of the space. `hours` is JSON: [[hour of the day, ok, clientError, refused,
-- serverError], …], ascending. No released version has written hours.
DROP TABLE usage_hours;

CREATE TABLE usage_hours (
  key_id    bigint NOT NULL,
  day       bigint NOT NULL,
  operation text   COLLATE "C" NOT NULL,
  hours     text   NOT NULL,
  PRIMARY KEY (key_id, day, operation)
);

-- All operations together, so that a chart of all accounts reads fewer rows. Weeks of seven days count from 1970.
CREATE TABLE usage_weeks (
  key_id       bigint NOT NULL,
  week         bigint NOT NULL,
  ok           bigint NOT NULL,
  client_error bigint NOT NULL,
  refused      bigint NOT NULL,
  server_error bigint NOT NULL,
  PRIMARY KEY (key_id, week)
);

INSERT INTO usage_weeks
  SELECT key_id, day / 7, sum(ok), sum(client_error), sum(refused), sum(server_error)
  FROM usage_days WHERE key_id > 0 GROUP BY key_id, day / 7;

DROP INDEX usage_days_by_operation;

-- Small, because an entry holds many rows of a day.
CREATE INDEX usage_hours_by_day ON usage_hours (day);
CREATE INDEX usage_days_by_day ON usage_days (day);
