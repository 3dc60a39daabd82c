-- +goose Up

-- Each sum that the provider said it refunded of a payment, and when it last said so,
-- by its own clock. It lowers the sum again when a refund fails: a sum that it says
-- after a failure has none of that one in it, and if it is the same as before, another
-- refund is. The greatest alone would hide that one behind the first.
CREATE TABLE provider_sums (
  payment_id      uuid NOT NULL REFERENCES payments,
  minor           bigint NOT NULL CHECK (minor > 0),
  said_at         timestamptz NOT NULL, -- -infinity: not known, and then nothing is known to have failed before
  told_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (payment_id, minor)
);
INSERT INTO provider_sums (payment_id, minor, said_at, told_at)
SELECT id, told_refunded_minor, '-infinity', coalesce(told_at, now()) FROM payments WHERE told_refunded_minor > 0;

-- When the provider first said that it failed, by its clock; NULL: it did not, or that
-- is not known.
ALTER TABLE provider_refunds ADD COLUMN failed_at timestamptz, ADD CHECK (failed_at IS NULL OR status = 'failed');

-- As before, of each sum by itself: what is known to have failed before the provider
-- said it is not in it, and neither is what was first sent after we were told of it. A
-- refund that others made, and an operation came to, may be.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION money_left(payment uuid, OUT left_minor bigint, OUT by_hand_minor bigint) LANGUAGE sql STABLE AS $$
  SELECT p.captured_minor - p.refunded_minor - p.refund_pending_minor - by_hand.minor, by_hand.minor
  FROM payments p CROSS JOIN LATERAL (
    SELECT coalesce(sum(r.amount_minor), 0)::bigint AS named FROM provider_refunds r
    WHERE r.payment_id = p.id AND r.operation IS NULL AND r.currency = p.currency AND r.amount_minor <= p.captured_minor AND r.status <> 'failed'
      AND NOT EXISTS (SELECT FROM refund_operations f WHERE f.provider_refund_id = r.id AND f.payment_id = r.payment_id)) others
  CROSS JOIN LATERAL (
    SELECT coalesce(max(s.minor - sent.minor - failed.minor), 0)::bigint AS minor
    FROM provider_sums s CROSS JOIN LATERAL (
      SELECT coalesce(sum(most), 0)::bigint AS minor FROM (
        SELECT max(f.amount_minor) AS most FROM refund_operations f
        LEFT JOIN provider_refunds r ON r.id = f.provider_refund_id AND r.payment_id = f.payment_id
        WHERE f.payment_id = p.id AND (f.status IN ('confirmed', 'failed_later') OR f.ended_at IS NULL AND f.sends > 0)
          AND (f.status <> 'failed_later' OR (r.failed_at < s.said_at) IS NOT TRUE)
          AND ((f.first_sent_at > s.told_at) IS NOT TRUE OR f.outcome IN ('by_hand', 'person_found') OR r.id IS NOT NULL AND r.operation IS NULL)
        GROUP BY split_part(f.id, '#', 1)) once_a_line) sent
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(r.amount_minor), 0)::bigint AS minor FROM provider_refunds r
      WHERE r.payment_id = p.id AND r.operation IS NULL AND r.currency = p.currency AND r.amount_minor <= p.captured_minor
        AND r.status = 'failed' AND (r.failed_at < s.said_at) IS NOT TRUE
        AND NOT EXISTS (SELECT FROM refund_operations f WHERE f.provider_refund_id = r.id AND f.payment_id = r.payment_id)) failed
    WHERE s.payment_id = p.id) beyond
  CROSS JOIN LATERAL (SELECT greatest(others.named, beyond.minor) AS minor) by_hand
  WHERE p.id = payment
$$;
-- +goose StatementEnd

-- The sum of a payment of which most is explained by no refund, neither told of by its
-- name nor sent by us before we were told of the sum; and what had failed before it.
-- +goose StatementBegin
CREATE FUNCTION sum_alone(payment uuid, OUT sum_minor bigint, OUT failed_minor bigint) LANGUAGE sql STABLE AS $$
  SELECT s.minor, r.failed FROM payments p JOIN provider_sums s ON s.payment_id = p.id CROSS JOIN LATERAL (
    SELECT coalesce(sum(r.amount_minor) FILTER (WHERE (r.failed_at < s.said_at) IS NOT TRUE), 0)::bigint AS named,
      coalesce(sum(r.amount_minor) FILTER (WHERE r.failed_at < s.said_at), 0)::bigint AS failed
    FROM provider_refunds r LEFT JOIN refund_operations f ON f.id = r.operation
    WHERE r.payment_id = p.id AND r.currency = p.currency AND r.amount_minor <= p.captured_minor AND (f.first_sent_at > s.told_at) IS NOT TRUE) r
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(f.amount_minor), 0)::bigint AS minor FROM refund_operations f
    WHERE f.payment_id = p.id AND f.sends > 0 AND f.status <> 'rejected' AND f.first_sent_at <= s.told_at AND NOT EXISTS (
      SELECT FROM provider_refunds r WHERE r.payment_id = p.id AND (r.operation = f.id OR r.id = f.provider_refund_id))) sent
  WHERE p.id = payment AND s.minor > r.named + sent.minor
  ORDER BY s.minor - r.named - sent.minor DESC, s.minor DESC LIMIT 1
$$;
-- +goose StatementEnd

-- +goose Down
SELECT 'forward only';
