-- Operators look at the orders of one animal by all accounts.
CREATE INDEX orders_by_pet_of_any_account ON orders (pet_id, status);
