-- The last four characters of a key, and the key that it was rotated into. Nobody knows them of earlier keys.
ALTER TABLE keys ADD COLUMN ending TEXT;
ALTER TABLE keys ADD COLUMN rotated_to INTEGER;

-- Two names must differ in more than case (docs/design/keys-and-operators.md). Only JavaScript can fold the case of every language, so
-- accounts of earlier versions have no folded name, and the program compares their names.
ALTER TABLE accounts ADD COLUMN folded_name TEXT;
ALTER TABLE accounts ADD COLUMN suspended_at INTEGER;
CREATE UNIQUE INDEX accounts_by_folded_name ON accounts (folded_name);
