-- Instances of the version before write their counts after this. They can read meanwhile.
LOCK TABLE usage_days, usage_hours, usage_weeks IN SHARE ROW EXCLUSIVE MODE;

-- The requests of each key by the hour, for 90 days. Hours count from 1970.
CREATE TABLE usage_recent (
  key_id       bigint NOT NULL,
  hour         bigint NOT NULL,
  operation    text   COLLATE "C" NOT NULL,
  ok           bigint NOT NULL,
  client_error bigint NOT NULL,
  refused      bigint NOT NULL,
  server_error bigint NOT NULL,
  PRIMARY KEY (key_id, hour, operation)
);

-- The requests of all keys of an environment together.
CREATE TABLE usage_totals (
  environment  text   COLLATE "C" NOT NULL,
  hour         bigint NOT NULL,
  operation    text   COLLATE "C" NOT NULL,
  ok           bigint NOT NULL,
  client_error bigint NOT NULL,
  refused      bigint NOT NULL,
  server_error bigint NOT NULL,
  PRIMARY KEY (environment, hour, operation)
);

INSERT INTO usage_recent
  SELECT key_id, day * 24 + (value ->> 0)::bigint, operation,
    (value ->> 1)::bigint, (value ->> 2)::bigint, (value ->> 3)::bigint, (value ->> 4)::bigint
  FROM usage_hours, json_array_elements(hours::json) WHERE key_id > 0;

-- The keys 0 and -1 stood for all keys of production and of staging.
INSERT INTO usage_totals
  SELECT CASE key_id WHEN 0 THEN 'production' ELSE 'staging' END, day * 24 + (value ->> 0)::bigint, operation,
    (value ->> 1)::bigint, (value ->> 2)::bigint, (value ->> 3)::bigint, (value ->> 4)::bigint
  FROM usage_hours, json_array_elements(hours::json) WHERE key_id <= 0;

-- A day whose hours are no longer there counts as its first hour.
INSERT INTO usage_totals
  SELECT CASE key_id WHEN 0 THEN 'production' ELSE 'staging' END, day * 24, operation, ok, client_error, refused, server_error
  FROM usage_days d WHERE key_id <= 0 AND NOT EXISTS (
    SELECT 1 FROM usage_hours h WHERE h.key_id = d.key_id AND h.day = d.day AND h.operation = d.operation
  );

DELETE FROM usage_days WHERE key_id <= 0;

-- An instance of the version before may still write to these two. They go with the next release.
DELETE FROM usage_hours;
DELETE FROM usage_weeks;
