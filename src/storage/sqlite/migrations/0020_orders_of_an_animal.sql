-- Operators look at the orders of one animal by all accounts, so the animal comes first. It costs orders nothing, unlike one more
-- index.
CREATE INDEX orders_by_pet_and_account ON orders (pet_id, account_id, status);
DROP INDEX orders_by_pet;
