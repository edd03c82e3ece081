-- The changes of one second in which very many callers changed: one row write for each would take a sixth of the
-- processor. The rows are written later. Until then both count: of a caller's usage here and in its row, the higher one
-- is newer. Refusals here follow those in the row of their key.
CREATE TABLE journal (
  -- AUTOINCREMENT: a reader that has read up to an id finds everything later above that id.
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  environment TEXT NOT NULL,
  -- [[caller, minute_start, minute_count, day, day_count], …]
  usage       TEXT NOT NULL,
  -- [[key_id, refused, refused, …], …] with the instants that were added; [key_id] means that the row of the key has
  -- everything so far.
  refusals    TEXT NOT NULL
) STRICT;

CREATE INDEX journal_by_environment ON journal (environment);
