-- When the place of an endpoint was last moved by a replay, which is allowed once in some minutes.
ALTER TABLE webhooks ADD COLUMN replayed_at INTEGER;
