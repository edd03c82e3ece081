-- Operators look at the orders of one animal by all accounts. The operator of a large table may have built the index before,
-- because this blocks writes: see docs/design/postgres.md.
DO $$ BEGIN
  IF EXISTS (
    SELECT FROM pg_index WHERE indexrelid = to_regclass('orders_by_pet_of_any_account') AND NOT indisvalid
  ) THEN
    RAISE 'the index orders_by_pet_of_any_account is not complete; wait for its CREATE INDEX, or drop it if that has failed';
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS orders_by_pet_of_any_account ON orders (pet_id, status, id);
