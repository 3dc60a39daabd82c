-- +goose Up

-- The payment that a notice of refunds is about, while nothing came of it: the
-- payment is none that we know by that name, or its money was not counted yet.
-- Once it is, the notice is tried again.
ALTER TABLE provider_notices ADD COLUMN about text NOT NULL DEFAULT '';
CREATE INDEX provider_notices_about ON provider_notices (about) WHERE about <> '';

-- Nobody has more refunded than was captured. What was kept of a sum that says so
-- is a person's, and counts as nothing.
INSERT INTO human_list AS h (kind, subject, order_id, payment_id, detail)
SELECT 'refund_differs', provider_payment_id, order_id, id, format(
  '%s says that %s were refunded of it; %s %s were captured by %s: nothing of it was counted',
  provider, told_refunded_minor, captured_minor, currency, provider_payment_id)
FROM payments WHERE told_refunded_minor > captured_minor
ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, opened_at = now(), detail = excluded.detail
WHERE h.resolved_at IS NOT NULL AND h.detail <> excluded.detail;
UPDATE payments SET told_refunded_minor = 0 WHERE told_refunded_minor > captured_minor;
ALTER TABLE payments ADD CONSTRAINT payments_told_is_possible CHECK (told_refunded_minor <= captured_minor);

-- +goose Down
SELECT 'forward only';
