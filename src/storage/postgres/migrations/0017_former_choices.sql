-- Which events an endpoint got before its types last changed, as long as some of them wait. Instances of the previous version ignore it.
ALTER TABLE webhooks ADD COLUMN former_choices text NOT NULL DEFAULT '[]';
