-- AUTOINCREMENT: an id is never used again, not even after the newest animal was deleted.
CREATE TABLE pets (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL,
  category_id INTEGER NOT NULL,
  status      TEXT    CHECK (status IN ('available', 'pending', 'sold'))
) STRICT;

-- An entry ends with the row's id, so that it also gives the order of a filtered list.
CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;

-- Instants are Unix milliseconds everywhere.
CREATE TABLE accounts (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT    NOT NULL UNIQUE,
  plan       TEXT    NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  per_minute INTEGER,
  per_day    INTEGER,
  created_at INTEGER NOT NULL,
  CHECK ((plan = 'enterprise') = (per_minute IS NOT NULL AND per_day IS NOT NULL))
) STRICT;

CREATE TABLE keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id   INTEGER NOT NULL REFERENCES accounts (id),
  hash         TEXT    NOT NULL UNIQUE,
  environment  TEXT    NOT NULL CHECK (environment IN ('production', 'staging')),
  label        TEXT,
  scopes       TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  revoked_at   INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE INDEX keys_by_account ON keys (account_id);

CREATE TABLE idempotency (
  account_id  INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,
  pet_id      INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Counters of the process that serves, as it last wrote them; each environment counts for itself.
CREATE TABLE usage (
  environment  TEXT    NOT NULL,
  caller       TEXT    NOT NULL,
  minute_start INTEGER NOT NULL,
  minute_count INTEGER NOT NULL,
  day          INTEGER NOT NULL,
  day_count    INTEGER NOT NULL,
  PRIMARY KEY (environment, caller)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_day ON usage (day);

CREATE TABLE standings (
  key_id       INTEGER PRIMARY KEY,
  environment  TEXT    NOT NULL,
  refusals     TEXT    NOT NULL,
  banned_until INTEGER,
  ban_count    INTEGER,
  -- Set by an operator; the process that serves takes it as an order and deletes the row.
  lifted       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX standings_lifted ON standings (key_id) WHERE lifted = 1;
