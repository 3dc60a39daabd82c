-- +goose Up

-- What of an operation's payment had gone back by hand when a person said that it goes
-- all the same: an approval, or a renewal beside it.
ALTER TABLE refund_operations ADD COLUMN beside_minor bigint NOT NULL DEFAULT 0 CHECK (beside_minor >= 0);
UPDATE refund_operations f SET beside_minor = greatest((SELECT by_hand_minor FROM money_left(f.payment_id)), 0)
WHERE f.ended_at IS NULL AND (f.parent IS NOT NULL
  OR EXISTS (SELECT FROM refund_approvals a WHERE a.operation = f.id AND a.decision = 'approved' AND a.cause = 'refunded_by_hand'));

-- As before, but for the sends of one operation ('': of none): those that had no effect,
-- or that a look did not find, explain nothing of what the provider says it refunded.
-- +goose StatementBegin
CREATE FUNCTION money_left(payment uuid, unsent text, OUT left_minor bigint, OUT by_hand_minor bigint) LANGUAGE sql STABLE AS $$
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
        WHERE f.payment_id = p.id AND f.id <> unsent AND (f.status IN ('confirmed', 'failed_later') OR f.ended_at IS NULL AND f.sends > 0)
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
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION money_left(payment uuid, OUT left_minor bigint, OUT by_hand_minor bigint) LANGUAGE sql STABLE AS $$
  SELECT m.left_minor, m.by_hand_minor FROM money_left(payment, '') m
$$;
-- +goose StatementEnd

-- What went back by hand that may be what the operation is about to send: more than a
-- person has said it goes beside. Of the whole payment the provider refuses a second.
-- +goose StatementBegin
CREATE FUNCTION by_hand_beside(operation text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN f.amount_minor < p.captured_minor
    THEN greatest((SELECT by_hand_minor FROM money_left(p.id, f.id)) - f.beside_minor, 0) ELSE 0 END
  FROM refund_operations f JOIN payments p ON p.id = f.payment_id WHERE f.id = operation
$$;
-- +goose StatementEnd

-- +goose Down
SELECT 'forward only';
