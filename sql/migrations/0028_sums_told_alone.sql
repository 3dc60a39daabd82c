-- +goose Up

-- When the sum that the provider says it refunded of a payment last grew. What of it
-- no refund tells of by its name is a person's after a few minutes: the notice of a
-- refund that was made by hand may be lost, or never have been asked for.
ALTER TABLE payments ADD COLUMN told_at timestamptz;
UPDATE payments SET told_at = now() WHERE told_refunded_minor > 0;
CREATE INDEX payments_told_beyond ON payments (told_at)
  WHERE told_refunded_minor > refunded_minor + refund_pending_minor;

-- +goose Down
SELECT 'forward only';
