CREATE TABLE categories (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL,
  description TEXT,
  -- Only JavaScript can fold the case of every language.
  folded_name TEXT    NOT NULL UNIQUE
) STRICT;

-- One index for both filters: a page of a category merges the pages of its statuses. An animal without a status has ''.
CREATE INDEX pets_by_category ON pets (category_id, coalesce(status, ''));

CREATE TABLE orders (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL,
  pet_id     INTEGER NOT NULL,
  quantity   INTEGER NOT NULL CHECK (quantity = 1),
  ship_date  INTEGER,
  status     TEXT    NOT NULL CHECK (status IN ('pending', 'complete', 'cancelled', 'expired')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- An animal has at most one open order.
CREATE UNIQUE INDEX orders_open ON orders (pet_id) WHERE status = 'pending';
CREATE INDEX orders_due ON orders (expires_at) WHERE status = 'pending';
CREATE INDEX orders_by_account ON orders (account_id, status);
CREATE INDEX orders_by_pet ON orders (account_id, pet_id, status);
CREATE INDEX orders_by_status ON orders (status);
