-- An account can have very many keys, nearly all of them ended, and a page reads only its own rows. Instances of the previous
-- version go on meanwhile; `keys_by_account` stays, because to drop it would also block reads. The operator of a large
-- table may have built an index before, because this blocks writes: see docs/design/postgres.md.
DO $$ DECLARE name text; BEGIN
  FOREACH name IN ARRAY ARRAY['keys_by_account_and_environment', 'keys_by_environment', 'keys_live', 'standings_banned'] LOOP
    IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(name) AND NOT indisvalid) THEN
      RAISE 'the index % is not complete; wait for its CREATE INDEX, or drop it if that has failed', name;
    END IF;
  END LOOP;
END $$;

CREATE INDEX IF NOT EXISTS keys_by_account_and_environment ON keys (account_id, environment, id);
CREATE INDEX IF NOT EXISTS keys_by_environment ON keys (environment, id);

-- A key without an expiry ends after all others.
CREATE INDEX IF NOT EXISTS keys_live ON keys (account_id, environment, coalesce(expires_at, 9223372036854775807))
  WHERE revoked_at IS NULL;

CREATE INDEX IF NOT EXISTS standings_banned ON standings (environment, key_id, banned_until, ban_count)
  WHERE lifted = 0 AND banned_until IS NOT NULL;
