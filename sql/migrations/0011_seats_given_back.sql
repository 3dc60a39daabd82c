-- +goose Up

-- A refunded line gives its seat back: once, in the transaction that confirms
-- its refund.

ALTER TABLE orders
  -- Lines whose refund was confirmed, and whose seats the order holds no more.
  ADD COLUMN given_back int NOT NULL DEFAULT 0,
  ADD CHECK (given_back BETWEEN 0 AND seat_count),
  ADD CHECK (given_back = 0 OR status = 'paid');

ALTER TABLE order_lines
  -- The refund that gave the line's seat back. NULL: the order has it, or ended.
  ADD COLUMN given_back_by text REFERENCES refund_operations;
CREATE UNIQUE INDEX order_lines_given_back ON order_lines (given_back_by) WHERE given_back_by IS NOT NULL;

-- However many operations a line has, its seat goes back for one of them.
CREATE UNIQUE INDEX seat_returns_one_refund ON seat_returns (order_id, seat_id) WHERE cause LIKE 'refunded:%';

-- What was refunded while there was no way back is on sale from now on.
WITH due AS MATERIALIZED (
  SELECT DISTINCT ON (f.order_id, f.seat_id) f.id, f.order_id, f.seat_id, s.guid
  FROM refund_operations f
  JOIN orders o ON o.id = f.order_id AND o.status = 'paid'
  JOIN seats s ON s.id = f.seat_id AND s.order_id = f.order_id
  WHERE f.status = 'confirmed'
    OR f.status = 'failed_later' AND EXISTS (SELECT FROM refund_changes c WHERE c.operation = f.id AND c.to_status = 'confirmed')
  ORDER BY f.order_id, f.seat_id, f.created_at, f.id
), lines AS (
  UPDATE order_lines l SET given_back_by = d.id FROM due d WHERE l.order_id = d.order_id AND l.seat_id = d.seat_id
), back AS (
  UPDATE seats s SET order_id = NULL, claimed_at = NULL FROM due d WHERE s.id = d.seat_id
), changed AS (
  UPDATE orders o SET given_back = d.lines, version = o.version + 1
  FROM (SELECT order_id, count(*) AS lines, jsonb_agg(guid ORDER BY seat_id) AS seats FROM due GROUP BY order_id) d
  WHERE o.id = d.order_id
  RETURNING o.id, o.event_id, o.account, o.version, d.lines, d.seats
), returned AS (
  INSERT INTO seat_returns (seat_id, cause, event_id, order_id)
  SELECT d.seat_id, 'refunded:' || d.id, c.event_id, d.order_id FROM due d JOIN changed c ON c.id = d.order_id
), counted AS (
  UPDATE buyers b SET held = b.held - c.lines
  FROM (SELECT event_id, account, sum(lines) AS lines FROM changed GROUP BY event_id, account) c
  WHERE b.event_id = c.event_id AND b.account = c.account
)
INSERT INTO notices (kind, event_id, subject, version, body)
SELECT 'tickets.returned', event_id, id::text, version,
  jsonb_build_object('order', id, 'event', event_id, 'cause', 'refunded', 'seats', seats)
FROM changed;

-- +goose StatementBegin
CREATE FUNCTION give_line_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.given_back_by IS NOT NULL THEN
    RAISE EXCEPTION 'seat % of order % was given back', OLD.seat_id, OLD.order_id USING ERRCODE = 'check_violation';
  END IF;
  IF NOT EXISTS (SELECT FROM refund_operations f WHERE f.id = NEW.given_back_by AND f.status = 'confirmed'
      AND f.order_id = NEW.order_id AND f.seat_id = NEW.seat_id) THEN
    RAISE EXCEPTION 'seat % of order % goes back by a confirmed refund of its own, not by %', NEW.seat_id, NEW.order_id, NEW.given_back_by
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER order_lines_give_back BEFORE UPDATE OF given_back_by ON order_lines
  FOR EACH ROW EXECUTE FUNCTION give_line_back();

-- +goose Down
SELECT 'forward only';
