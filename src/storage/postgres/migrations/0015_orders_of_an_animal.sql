-- Operators look at the orders of one animal by all accounts, so the animal comes first. It costs orders nothing, unlike one more
-- index. The operator of a large table may have built the index before, because this blocks writes: see
-- docs/design/postgres.md. Instances of the previous version find the orders of an account and an animal by the account.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('orders_by_pet_and_account') AND NOT indisvalid) THEN
    RAISE 'the index orders_by_pet_and_account is not complete; wait for its CREATE INDEX, or drop it if that has failed';
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS orders_by_pet_and_account ON orders (pet_id, account_id, status, id);
-- It blocks reads until the commit, so it comes last.
DROP INDEX orders_by_pet;
