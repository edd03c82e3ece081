-- A record holds the answer that was given (docs/design/idempotency.md). Location is below the base address. The default of body is
-- only seen inside the transaction that adds the answer.
ALTER TABLE idempotency
  ADD COLUMN status   bigint NOT NULL DEFAULT 201,
  ADD COLUMN location text,
  ADD COLUMN body     text   NOT NULL DEFAULT '',
  -- Only version 1.0.0 writes it.
  ALTER COLUMN pet_id DROP NOT NULL;

CREATE FUNCTION pet_as_json(pets) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '{"id":' || $1.id || ',"name":' || to_json($1.name) || ',"categoryId":' || $1.category_id ||
    coalesce(',"status":"' || $1.status || '"}', '}')
$$;

-- A record whose animal was deleted could not replay.
DELETE FROM idempotency WHERE NOT EXISTS (SELECT FROM pets WHERE id = pet_id);
UPDATE idempotency SET location = '/pets/' || pet_id, body = pet_as_json(pets) FROM pets WHERE id = pet_id;

-- An instance of the previous version, which still serves during a rolling upgrade, writes the id of its animal only. The
-- trigger runs at the end of its statement, when the animal is there.
CREATE FUNCTION record_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE idempotency SET status = 201, location = '/pets/' || NEW.pet_id, body = pet_as_json(pets)
    FROM pets WHERE id = NEW.pet_id AND account_id = NEW.account_id AND key = NEW.key;
  RETURN NULL;
END
$$;

CREATE TRIGGER record_answer AFTER INSERT OR UPDATE OF pet_id ON idempotency
  FOR EACH ROW WHEN (NEW.pet_id IS NOT NULL) EXECUTE FUNCTION record_answer();
