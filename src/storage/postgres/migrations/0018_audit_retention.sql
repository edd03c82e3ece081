-- Entries of keys that are older than this may be deleted. Without a row, none.
CREATE TABLE audit_retention (
  id        bigint PRIMARY KEY,
  kept_from bigint NOT NULL
);

CREATE INDEX audit_of_keys ON audit (at) WHERE actor_kind = 'key';

CREATE FUNCTION audit_lets_old_entries_of_keys_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.actor_kind <> 'key' OR OLD.at >= coalesce((SELECT max(kept_from) FROM audit_retention), OLD.at) THEN
    RAISE EXCEPTION 'The audit log is append-only.';
  END IF;
  RETURN OLD;
END $$;

DROP TRIGGER audit_not_changed ON audit;
CREATE TRIGGER audit_not_changed BEFORE UPDATE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_not_deleted BEFORE DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION audit_lets_old_entries_of_keys_go();
