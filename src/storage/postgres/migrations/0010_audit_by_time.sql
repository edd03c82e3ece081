-- Pages of the audit log come by time: see docs/design/keys-and-operators.md. No released version has the table, so it is small.
CREATE INDEX audit_by_time ON audit (at, id);
CREATE INDEX audit_by_account_and_time ON audit (account_id, at, id);
DROP INDEX audit_by_account;
