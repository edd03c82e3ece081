-- A client may send a secret as its Idempotency-Key, an API key for instance, so only the SHA-256 is kept. The space after
-- "sha256" keeps a hash apart from any value that a header can have (docs/design/idempotency.md).
CREATE FUNCTION hash_idempotency_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.key := 'sha256 ' || encode(sha256(convert_to(NEW.key, 'UTF8')), 'hex');
  RETURN NEW;
END
$$;

-- An instance of the previous version, which still serves during a rolling upgrade, writes the header's value itself.
-- The trigger replaces the value before PostgreSQL looks for a conflict, so such a create finds the records of all versions.
CREATE TRIGGER hash_idempotency_key BEFORE INSERT ON idempotency
  FOR EACH ROW WHEN (NEW.key NOT LIKE 'sha256 %') EXECUTE FUNCTION hash_idempotency_key();

-- Creating the trigger has locked the table against writes, so no value is missed.
UPDATE idempotency SET key = 'sha256 ' || encode(sha256(convert_to(key, 'UTF8')), 'hex');
