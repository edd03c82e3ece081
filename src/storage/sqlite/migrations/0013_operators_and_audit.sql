CREATE TABLE operators (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL,
  folded_name TEXT    NOT NULL UNIQUE,
  role        TEXT    NOT NULL CHECK (role IN ('viewer', 'admin')),
  created_at  INTEGER NOT NULL
) STRICT;

-- Sign-in links, sessions and tokens of operators, each as its hash. A row that is gone ends it at once.
CREATE TABLE operator_secrets (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  operator_id INTEGER NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  kind        TEXT    NOT NULL CHECK (kind IN ('link', 'session', 'token')),
  hash        TEXT    NOT NULL UNIQUE,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER
) STRICT;

CREATE INDEX operator_secrets_by_operator ON operator_secrets (operator_id);

CREATE TABLE audit (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  at            INTEGER NOT NULL,
  actor_kind    TEXT    NOT NULL CHECK (actor_kind IN ('operator', 'key', 'system')),
  actor         TEXT    NOT NULL,
  address       TEXT,
  action        TEXT    NOT NULL,
  target_kind   TEXT    NOT NULL,
  target        TEXT    NOT NULL,
  account_id    INTEGER,
  before_values TEXT,
  after_values  TEXT
) STRICT;

CREATE INDEX audit_by_account ON audit (account_id);

CREATE TRIGGER audit_not_updated BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
