-- Whose animal it is (0: the house), and who changed it last. An instance of the version before leaves `changed_version`
-- behind `version`: then nobody knows who made the last change.
-- The operator of a large table may have added the column and built the index before, because the index blocks writes: see
-- docs/design/postgres.md.
ALTER TABLE pets ADD COLUMN IF NOT EXISTS owner_id bigint NOT NULL DEFAULT 0;
ALTER TABLE pets ADD COLUMN changed_at bigint;
ALTER TABLE pets ADD COLUMN changed_by text;
ALTER TABLE pets ADD COLUMN changed_version bigint;
-- As pets_by_category: a page of an owner merges the pages of its statuses.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('pets_by_owner') AND NOT indisvalid) THEN
    RAISE 'the index pets_by_owner is not complete; wait for its CREATE INDEX, or drop it if that has failed';
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS pets_by_owner ON pets (owner_id, coalesce(status, ''), id);

-- Who did it: the kind of an actor, a colon, its name. Null: an instance of the version before wrote or placed it.
ALTER TABLE events ADD COLUMN actor text;
ALTER TABLE event_queue ADD COLUMN actor text;

-- Keys that could change any animal still can.
UPDATE keys SET scopes = scopes || ' pets:manage' WHERE ' ' || scopes || ' ' LIKE '% pets:write %';
-- The first start says so, if it concerns anybody.
INSERT INTO event_marks (mark, at)
  SELECT 'partners apart', (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE EXISTS (SELECT FROM keys);
