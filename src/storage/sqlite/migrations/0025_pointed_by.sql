-- The key that last changed the URL of a webhook. Instances of the previous version leave it as it is.
ALTER TABLE webhooks ADD COLUMN pointed_by INTEGER;
