-- Absent until an operator signs in.
ALTER TABLE operators ADD COLUMN last_sign_in_at INTEGER;
UPDATE operators SET last_sign_in_at = used.at
  FROM (SELECT actor, max(at) AS at FROM audit WHERE action = 'sign in' AND actor_kind = 'operator' GROUP BY actor) AS used
  WHERE used.actor = operators.name AND used.at >= operators.created_at;
