-- Changes by operators that no service has logged yet (docs/design/keys-and-operators.md).
CREATE TABLE notices (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  event      TEXT    NOT NULL,
  key_id     INTEGER,
  account_id INTEGER NOT NULL
) STRICT;
