-- Whose animal it is (0: the house), and who changed it last. An instance of the version before leaves `changed_version`
-- behind `version`: then nobody knows who made the last change.
ALTER TABLE pets ADD COLUMN owner_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pets ADD COLUMN changed_at INTEGER;
ALTER TABLE pets ADD COLUMN changed_by TEXT;
ALTER TABLE pets ADD COLUMN changed_version INTEGER;
-- As pets_by_category: a page of an owner merges the pages of its statuses.
CREATE INDEX pets_by_owner ON pets (owner_id, coalesce(status, ''));

-- Who did it: the kind of an actor, a colon, its name. Null: an instance of the version before wrote it.
ALTER TABLE events ADD COLUMN actor TEXT;
ALTER TABLE event_queue ADD COLUMN actor TEXT;

-- Keys that could change any animal still can.
UPDATE keys SET scopes = scopes || ' pets:manage' WHERE ' ' || scopes || ' ' LIKE '% pets:write %';
-- The first start says so, if it concerns anybody.
INSERT INTO event_marks (mark, at) SELECT 'partners apart', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM keys);
