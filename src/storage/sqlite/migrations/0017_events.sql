-- A thing that is older than events begins with version 1.
ALTER TABLE pets ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE categories ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE orders ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- The feed. Account 0 is the catalogue; an event that belongs to no environment has ''.
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  key         TEXT   NOT NULL DEFAULT (lower(hex(randomblob(16)))),
  account_id  INTEGER NOT NULL,
  environment TEXT   NOT NULL,
  type        TEXT   NOT NULL,
  at          INTEGER NOT NULL,
  version     INTEGER,
  data        TEXT   NOT NULL
) STRICT;
CREATE INDEX events_by_stream ON events (account_id, environment, type);

-- Events without a place in the feed, which a copy of a PostgreSQL database can have.
CREATE TABLE event_queue (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  key         TEXT   NOT NULL DEFAULT (lower(hex(randomblob(16)))),
  account_id  INTEGER NOT NULL,
  environment TEXT   NOT NULL,
  type        TEXT   NOT NULL,
  at          INTEGER NOT NULL,
  version     INTEGER,
  data        TEXT   NOT NULL
) STRICT;

-- One row. A database that is a copy, or was restored, is another database and begins a new feed.
CREATE TABLE event_feed (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  name       TEXT   NOT NULL,
  database   TEXT   NOT NULL,
  -- The last event that was deleted, because it was too old.
  deleted_to INTEGER NOT NULL
) STRICT;
INSERT INTO event_feed (id, name, database, deleted_to)
  VALUES (1, lower(hex(randomblob(6))), '', 0);

-- What is told once: a threshold of a day, a ban, an expiry.
CREATE TABLE event_marks (
  mark TEXT   PRIMARY KEY,
  at   INTEGER NOT NULL
) STRICT;
CREATE INDEX event_marks_by_age ON event_marks (at);

CREATE INDEX keys_expiring ON keys (expires_at) WHERE revoked_at IS NULL AND rotated_to IS NULL AND expires_at IS NOT NULL;

CREATE TABLE webhooks (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL,
  environment     TEXT   NOT NULL,
  url             TEXT   NOT NULL,
  types           TEXT   NOT NULL,
  -- The scopes of the key that chose the URL and the types: they say which events it may see.
  scopes          TEXT   NOT NULL,
  description     TEXT,
  disabled_reason TEXT  ,
  secret          TEXT   NOT NULL,
  old_secret      TEXT,
  rotated_at      INTEGER,
  created_at      INTEGER NOT NULL,
  created_by      INTEGER NOT NULL,
  -- Every event of the feed up to here was delivered, is open, or was missed.
  place           INTEGER NOT NULL,
  missed          INTEGER NOT NULL,
  failing_since   INTEGER,
  -- Rises with every change that a sender must know.
  generation      INTEGER NOT NULL,
  -- The instance that sends, until its lease ends.
  sender          TEXT  ,
  leased_until    INTEGER
) STRICT;
CREATE INDEX webhooks_by_account ON webhooks (account_id, environment);

-- Events that an endpoint has not taken yet, and that the place of its webhook has passed.
CREATE TABLE open_events (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL,
  event_id   INTEGER NOT NULL,
  attempts   INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  UNIQUE (webhook_id, event_id)
) STRICT;
CREATE INDEX open_events_by_due ON open_events (webhook_id, due_at);

-- An attempt each.
CREATE TABLE deliveries (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id  INTEGER NOT NULL,
  -- The place of the event in the feed; 0 for a test.
  event_id    INTEGER NOT NULL,
  event_key   TEXT   NOT NULL,
  type        TEXT   NOT NULL,
  attempt     INTEGER NOT NULL,
  at          INTEGER NOT NULL,
  status      TEXT   NOT NULL,
  http_status INTEGER,
  failure     TEXT  ,
  duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id);
CREATE INDEX deliveries_by_status ON deliveries (webhook_id, status);
