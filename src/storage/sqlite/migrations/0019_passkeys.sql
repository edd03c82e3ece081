-- What verifies a passkey: the public key, and how often the authenticator says that it was used.
CREATE TABLE passkeys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  operator_id  INTEGER NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  name         TEXT    NOT NULL,
  credential   TEXT    NOT NULL UNIQUE,
  public_key   TEXT    NOT NULL,
  counter      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE INDEX passkeys_by_operator ON passkeys (operator_id);

-- What a browser has to sign. A row that is gone was used. Without an operator, it signs in.
CREATE TABLE passkey_challenges (
  challenge   TEXT    NOT NULL PRIMARY KEY,
  operator_id INTEGER,
  expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The passkey that a session began with. Without it, the session began with a link.
ALTER TABLE operator_secrets ADD COLUMN passkey_id INTEGER;
