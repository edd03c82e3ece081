-- A record holds the answer that was given (docs/design/idempotency.md). Version 1.0.0 stored the id of the animal, so its answers
-- are made from the animals. A record whose animal was deleted could not replay, so it is dropped.
CREATE TABLE idempotency_with_answers (
  account_id  INTEGER NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint TEXT    NOT NULL,
  status      INTEGER NOT NULL,
  -- Below the base address.
  location    TEXT,
  body        TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;

INSERT INTO idempotency_with_answers
  SELECT account_id, key, fingerprint, 201, '/pets/' || pet_id, json, created_at FROM idempotency JOIN pets ON id = pet_id;

DROP TABLE idempotency;
ALTER TABLE idempotency_with_answers RENAME TO idempotency;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
