-- Entries of keys that are older than this may be deleted. Without a row, none.
CREATE TABLE audit_retention (
  id        INTEGER PRIMARY KEY,
  kept_from INTEGER NOT NULL
) STRICT;

CREATE INDEX audit_of_keys ON audit (at) WHERE actor_kind = 'key';

DROP TRIGGER audit_not_deleted;
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit
  WHEN OLD.actor_kind <> 'key' OR OLD.at >= coalesce((SELECT max(kept_from) FROM audit_retention), OLD.at)
  BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
