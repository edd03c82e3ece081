-- When the place of an endpoint was last moved by a replay, which is allowed once in some minutes. Instances of the previous version
-- ignore it.
ALTER TABLE webhooks ADD COLUMN replayed_at bigint;
