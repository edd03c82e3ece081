-- The time that an attempt signed. Null: nothing was sent, or a version before this one sent it.
ALTER TABLE deliveries ADD COLUMN sent_at bigint;
