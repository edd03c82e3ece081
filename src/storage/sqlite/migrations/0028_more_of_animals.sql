-- What an animal has besides is JSON of an object, in the order of answers. SQLite cannot change the column `json`, so this
-- writes the table again: see the changelog for how long that takes.
CREATE TABLE pets_with_details (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  name            TEXT    NOT NULL,
  category_id     INTEGER NOT NULL,
  status          TEXT    CHECK (status IN ('available', 'pending', 'sold')),
  details         TEXT,
  -- The owner's own number of the animal.
  reference       TEXT,
  json            TEXT    NOT NULL GENERATED ALWAYS AS (
    '{"id":' || id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id ||
    ifnull(',"status":"' || status || '"', '') || ifnull(',' || nullif(substr(details, 2, length(details) - 2), ''), '') ||
    iif(reference IS NULL, '', ',"reference":' || json_quote(reference)) || '}'
  ) STORED,
  version         INTEGER NOT NULL DEFAULT 1,
  -- Whose animal it is (0: the house).
  owner_id        INTEGER NOT NULL DEFAULT 0,
  -- Who changed it last. Known, if `changed_version` is `version`.
  changed_at      INTEGER,
  changed_by      TEXT,
  changed_version INTEGER,
  -- The name without its case. Up to date, if `folded_version` is `version`.
  folded_name     TEXT,
  folded_version  INTEGER
) STRICT;

INSERT INTO pets_with_details
  (id, name, category_id, status, version, owner_id, changed_at, changed_by, changed_version, folded_name, folded_version)
  SELECT id, name, category_id, status, version, owner_id, changed_at, changed_by, changed_version, folded_name(name), version
  FROM pets ORDER BY id;

-- The newest animals may have been deleted: their ids are not used again.
DELETE FROM sqlite_sequence WHERE name = 'pets_with_details';
INSERT INTO sqlite_sequence (name, seq) SELECT 'pets_with_details', seq FROM sqlite_sequence WHERE name = 'pets';

DROP TABLE pets;
ALTER TABLE pets_with_details RENAME TO pets;
CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;
CREATE INDEX pets_by_category ON pets (category_id, coalesce(status, ''));
CREATE INDEX pets_by_owner ON pets (owner_id, coalesce(status, ''));
CREATE INDEX pets_by_name ON pets (folded_name) WHERE folded_name IS NOT NULL;
CREATE UNIQUE INDEX pets_by_reference ON pets (reference, owner_id) WHERE reference IS NOT NULL;
CREATE INDEX pets_unfolded ON pets (id) WHERE folded_version IS DISTINCT FROM version;
-- For the inventory.
CREATE INDEX pets_without_status ON pets (id) WHERE status IS NULL;
