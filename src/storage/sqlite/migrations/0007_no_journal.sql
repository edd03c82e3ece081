-- The table `journal` is no longer used (docs/design/rate-limits.md). What it holds goes into the rows: after a crash or a stop
-- under load it has counts that no row has.

-- Days and their counts only go up, so of several entries, and of an entry and the row, the highest is the newest.
INSERT INTO usage (environment, caller, minute_start, minute_count, day, day_count)
  SELECT environment, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
  FROM journal, json_each(journal.usage) WHERE true
  ON CONFLICT DO UPDATE SET minute_start = excluded.minute_start, minute_count = excluded.minute_count,
    day = excluded.day, day_count = excluded.day_count
  WHERE (excluded.day, excluded.day_count) > (day, day_count);

-- An entry [key_id, refused, refused, …] adds refusals to those of the key's row. An entry [key_id] says that the row has
-- all that came before it. A ban that an operator has lifted takes its refusals with it.
WITH
  entries AS (
    SELECT journal.id, environment, value AS entry, value ->> 0 AS key_id, json_array_length(value) = 1 AS settles
    FROM journal, json_each(journal.refusals)
  ),
  settled AS MATERIALIZED (SELECT key_id, max(id) AS id FROM entries WHERE settles GROUP BY key_id)
INSERT INTO standings (key_id, environment, refusals)
  SELECT entries.key_id, environment, json_group_array(refused.value ORDER BY refused.value)
  FROM entries LEFT JOIN settled USING (key_id), json_each(entry) AS refused
  WHERE refused.key > 0 AND entries.id > ifnull(settled.id, 0)
  GROUP BY entries.key_id, environment
  ON CONFLICT DO UPDATE SET refusals = (
    SELECT json_group_array(value ORDER BY value)
    FROM (SELECT value FROM json_each(standings.refusals) UNION ALL SELECT value FROM json_each(excluded.refusals))
  )
  WHERE lifted = 0;

DROP TABLE journal;
