-- Counts the changes of accounts and keys by any process. A service drops its cached keys only when this count changes.
-- Without it, every commit would drop them, also that of an animal, of counters or of the last use of a key.
CREATE TABLE key_changes (
  count INTEGER NOT NULL
) STRICT;

INSERT INTO key_changes VALUES (0);

CREATE TRIGGER account_inserted AFTER INSERT ON accounts BEGIN UPDATE key_changes SET count = count + 1; END;
CREATE TRIGGER account_updated AFTER UPDATE ON accounts BEGIN UPDATE key_changes SET count = count + 1; END;
CREATE TRIGGER account_deleted AFTER DELETE ON accounts BEGIN UPDATE key_changes SET count = count + 1; END;

CREATE TRIGGER key_inserted AFTER INSERT ON keys BEGIN UPDATE key_changes SET count = count + 1; END;
CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN UPDATE key_changes SET count = count + 1; END;
CREATE TRIGGER key_updated
  AFTER UPDATE OF id, account_id, hash, environment, label, scopes, created_at, expires_at, revoked_at ON keys
  BEGIN UPDATE key_changes SET count = count + 1; END;
