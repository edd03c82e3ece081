-- The key 0 stands for all keys of production together, and -1 for those of staging. Hours and days count from 1970.
CREATE TABLE usage_hours (
  key_id       bigint NOT NULL,
  hour         bigint NOT NULL,
  operation    text   COLLATE "C" NOT NULL,
  ok           bigint NOT NULL,
  client_error bigint NOT NULL,
  refused      bigint NOT NULL,
  server_error bigint NOT NULL,
  PRIMARY KEY (key_id, hour, operation)
);

CREATE TABLE usage_days (
  key_id       bigint NOT NULL,
  day          bigint NOT NULL,
  operation    text   COLLATE "C" NOT NULL,
  ok           bigint NOT NULL,
  client_error bigint NOT NULL,
  refused      bigint NOT NULL,
  server_error bigint NOT NULL,
  PRIMARY KEY (key_id, day, operation)
);

CREATE INDEX usage_days_by_operation ON usage_days (operation, day);

-- The last batch that each process wrote, so that a batch counts once even if its answer was lost.
CREATE TABLE usage_writers (
  writer     text   COLLATE "C" PRIMARY KEY,
  sequence   bigint NOT NULL,
  written_at bigint NOT NULL
);
