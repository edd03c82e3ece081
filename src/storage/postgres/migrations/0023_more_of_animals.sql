-- What an animal has besides, as JSON of an object in the order of answers: text, so that its bytes stay.
ALTER TABLE pets ADD COLUMN details text;
-- The owner's own number of the animal.
ALTER TABLE pets ADD COLUMN reference text COLLATE "C";
-- The name without its case. Up to date, if `folded_version` is `version`: an instance of the version before leaves it behind.
ALTER TABLE pets ADD COLUMN folded_name text COLLATE "C";
ALTER TABLE pets ADD COLUMN folded_version bigint;

-- The first two are empty at first. The third has every animal until its name is folded, in the background.
CREATE INDEX pets_by_name ON pets (folded_name, id) WHERE folded_name IS NOT NULL;
CREATE UNIQUE INDEX pets_by_reference ON pets (reference, owner_id) WHERE reference IS NOT NULL;
CREATE INDEX pets_unfolded ON pets (id) WHERE folded_version IS DISTINCT FROM version;
-- For the inventory.
CREATE INDEX pets_without_status ON pets (id) WHERE status IS NULL;
