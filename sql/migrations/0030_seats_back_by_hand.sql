-- +goose Up

-- Seats of an order whose whole payment somebody refunded by hand at the provider:
-- none of our operations stands for that money, so none gave them back. An operator
-- does, by name, from the human list.

-- Whether an order that the payment pays may give back what seats it still has: the
-- provider has told, by name or as a sum, that all of the payment went back, and no
-- operation of ours is open on it. A refund that is known to have failed, or to be on
-- its way, proves nothing, neither by name nor as a part of the sum.
-- +goose StatementBegin
CREATE FUNCTION seats_may_go_back(payment uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM payments p JOIN orders o ON o.id = p.order_id AND o.payment_id = p.id AND o.status = 'paid'
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(r.amount_minor) FILTER (WHERE r.status = 'succeeded'), 0) AS came,
        coalesce(sum(r.amount_minor) FILTER (WHERE r.status <> 'succeeded'), 0) AS not_come
      FROM provider_refunds r WHERE r.payment_id = p.id AND r.currency = p.currency AND r.amount_minor <= p.captured_minor) named
    CROSS JOIN LATERAL (
      SELECT count(*) AS kept, count(*) FILTER (WHERE s.order_id = o.id) AS held
      FROM order_lines l JOIN seats s ON s.id = l.seat_id WHERE l.order_id = o.id AND l.given_back_by IS NULL) lines
    WHERE p.id = payment AND p.status = 'captured' AND p.stands = 'on_order' AND p.captured_minor > 0
      AND greatest(named.came, p.told_refunded_minor - named.not_come) >= p.captured_minor
      AND lines.kept > 0 AND lines.held = lines.kept
      AND NOT EXISTS (SELECT FROM refund_operations f WHERE f.payment_id = p.id AND f.ended_at IS NULL)
      AND NOT EXISTS (SELECT FROM provider_notices n
        WHERE n.about = p.provider_payment_id AND n.about <> '' AND n.provider = p.provider AND n.status = 'waiting'))
$$;
-- +goose StatementEnd

-- One row for each line that went back so: what was told then, and who said it.
CREATE TABLE seats_back_by_hand (
  id              text PRIMARY KEY,
  order_id        uuid NOT NULL,
  seat_id         bigint NOT NULL,
  payment_id      uuid NOT NULL REFERENCES payments,
  item            bigint NOT NULL REFERENCES human_list,
  by              text NOT NULL CHECK (by <> ''),
  why             text NOT NULL CHECK (why <> '' AND length(why) <= 2000),
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (order_id, seat_id),
  FOREIGN KEY (order_id, seat_id) REFERENCES order_lines (order_id, seat_id),
  CHECK (id = 'by_hand:' || order_id::text || ':' || seat_id::text)
);

-- +goose StatementBegin
CREATE FUNCTION give_back_by_hand() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT seats_may_go_back(NEW.payment_id)
    OR NOT EXISTS (SELECT FROM orders o WHERE o.id = NEW.order_id AND o.payment_id = NEW.payment_id) THEN
    RAISE EXCEPTION 'seat % of order % does not go back by hand', NEW.seat_id, NEW.order_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER seats_back_by_hand_guard BEFORE INSERT ON seats_back_by_hand
  FOR EACH ROW EXECUTE FUNCTION give_back_by_hand();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seats_back_by_hand
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- A line goes back by a confirmed refund of its own, or by such a row of its own: the
-- trigger knows either, where a reference could know one alone.
ALTER TABLE order_lines DROP CONSTRAINT order_lines_given_back_by_fkey;
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION give_line_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.given_back_by IS NOT NULL THEN
    RAISE EXCEPTION 'seat % of order % was given back', OLD.seat_id, OLD.order_id USING ERRCODE = 'check_violation';
  END IF;
  IF NOT EXISTS (SELECT FROM refund_operations f WHERE f.id = NEW.given_back_by AND f.status = 'confirmed'
      AND f.order_id = NEW.order_id AND f.seat_id = NEW.seat_id)
    AND NOT EXISTS (SELECT FROM seats_back_by_hand h WHERE h.id = NEW.given_back_by
      AND h.order_id = NEW.order_id AND h.seat_id = NEW.seat_id) THEN
    RAISE EXCEPTION 'seat % of order % goes back by a confirmed refund of its own, or by hand, not by %', NEW.seat_id, NEW.order_id, NEW.given_back_by
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'forward only';
