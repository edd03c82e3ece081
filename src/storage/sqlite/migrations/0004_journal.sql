-- What changed of very many callers in one second: a row each would cost a sixth of the processor. Until the rows follow,
-- both count: of a caller's usage here and in its row the one that goes further is the newer; refusals here come after
-- those of their key's row.
CREATE TABLE journal (
  -- AUTOINCREMENT: whoever has read up to a number finds all that came later above it.
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  environment TEXT NOT NULL,
  -- [[caller, minute_start, minute_count, day, day_count], …]
  usage       TEXT NOT NULL,
  -- [[key_id, refused, refused, …], …] with the instants that were added; [key_id] says: all so far is in the key's row.
  refusals    TEXT NOT NULL
) STRICT;

CREATE INDEX journal_by_environment ON journal (environment);
