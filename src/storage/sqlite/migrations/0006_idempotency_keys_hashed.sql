-- A client may send a secret as its Idempotency-Key, an API key for instance, so only the SHA-256 is kept. The space after
-- "sha256" keeps a hash apart from any value that a header can have (docs/design/idempotency.md).
-- The table is made again with secure_delete, so that SQLite overwrites the pages that held the values.
PRAGMA secure_delete = ON;

CREATE TABLE idempotency_hashed (
  account_id  INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,
  pet_id      INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;

-- The program that migrates defines sha256(), which SQLite does not have.
INSERT INTO idempotency_hashed
  SELECT account_id, 'sha256 ' || sha256(key), fingerprint, pet_id, created_at FROM idempotency;

DROP TABLE idempotency;
ALTER TABLE idempotency_hashed RENAME TO idempotency;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
