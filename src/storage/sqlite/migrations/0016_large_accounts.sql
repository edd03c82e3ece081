-- An account can have very many keys, nearly all of them ended, and a page reads only its own rows.
DROP INDEX keys_by_account;
CREATE INDEX keys_by_account ON keys (account_id, environment);
CREATE INDEX keys_by_environment ON keys (environment);

-- A key without an expiry ends after all others.
CREATE INDEX keys_live ON keys (account_id, environment, coalesce(expires_at, 9223372036854775807))
  WHERE revoked_at IS NULL;

CREATE INDEX standings_banned ON standings (environment, key_id, banned_until, ban_count)
  WHERE lifted = 0 AND banned_until IS NOT NULL;
