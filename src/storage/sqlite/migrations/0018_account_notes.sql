-- What operators note about an account.
ALTER TABLE accounts ADD COLUMN note TEXT;
