-- The last four characters of a key, and the key that it was rotated into. Nobody knows them of earlier keys, nor of those
-- that an instance of the previous version issues during a rolling upgrade.
ALTER TABLE keys ADD COLUMN ending text, ADD COLUMN rotated_to bigint;
