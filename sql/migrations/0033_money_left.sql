-- +goose Up

-- What of a payment can still go back, and what went back by others: for whoever asks
-- for a line, and for whoever begins or sends another refund, with the payment locked.
-- What the provider told of beyond our own operations was refunded by somebody else,
-- for a line that nobody knows. The greatest sum may have what was sent in it already,
-- and what failed after it, once a line: what is sent anew is sent after the first has
-- failed. A refund that the payment cannot have is a person's, and counts as nothing.
-- +goose StatementBegin
CREATE FUNCTION money_left(payment uuid, OUT left_minor bigint, OUT by_hand_minor bigint) LANGUAGE sql STABLE AS $$
  SELECT p.captured_minor - p.refunded_minor - p.refund_pending_minor - by_hand.minor, by_hand.minor
  FROM payments p CROSS JOIN LATERAL (
    SELECT coalesce(sum(r.amount_minor) FILTER (WHERE r.status <> 'failed'), 0)::bigint AS named,
      coalesce(sum(r.amount_minor) FILTER (WHERE r.status = 'failed'), 0)::bigint AS failed
    FROM provider_refunds r
    WHERE r.payment_id = p.id AND r.operation IS NULL AND r.currency = p.currency AND r.amount_minor <= p.captured_minor
      AND NOT EXISTS (SELECT FROM refund_operations f WHERE f.provider_refund_id = r.id AND f.payment_id = r.payment_id)) others
  CROSS JOIN LATERAL (
    SELECT p.told_refunded_minor - coalesce(sum(most), 0)::bigint AS minor FROM (
      SELECT max(f.amount_minor) AS most FROM refund_operations f
      WHERE f.payment_id = p.id AND (f.status IN ('confirmed', 'failed_later') OR f.ended_at IS NULL AND f.sends > 0)
      GROUP BY split_part(f.id, '#', 1)) sent) beyond
  CROSS JOIN LATERAL (SELECT greatest(others.named, beyond.minor - others.failed) AS minor) by_hand
  WHERE p.id = payment
$$;
-- +goose StatementEnd

-- +goose Down
SELECT 'forward only';
