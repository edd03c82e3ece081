-- The last four characters of a key, and the key that it was rotated into. Nobody knows them of earlier keys.
ALTER TABLE keys ADD COLUMN ending TEXT;
ALTER TABLE keys ADD COLUMN rotated_to INTEGER;
