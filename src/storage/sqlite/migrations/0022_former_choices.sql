-- Which events an endpoint got before its types last changed, as long as some of them wait.
ALTER TABLE webhooks ADD COLUMN former_choices TEXT NOT NULL DEFAULT '[]';
