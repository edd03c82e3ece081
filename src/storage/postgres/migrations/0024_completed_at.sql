-- When an order was completed. Null: it was not, or a version before this one completed it.
ALTER TABLE orders ADD COLUMN completed_at bigint;
-- Empty at first.
CREATE INDEX orders_completed ON orders (completed_at) WHERE completed_at IS NOT NULL;
