-- +goose Up

-- Seats that are taken off sale for good or for now (broken, the view blocked), and
-- seats of paid orders that the organiser exchanges for others.

ALTER TABLE seats
  -- Since when the seat is not to be sold. One that an order has goes back to
  -- nobody: it is held back when the order gives it back.
  ADD COLUMN withdrawn_at timestamptz,
  ADD CHECK (withdrawn_at IS NULL OR order_id IS NOT NULL OR held_back);

ALTER TABLE seat_returns
  DROP CONSTRAINT seat_returns_cause_check,
  ADD CONSTRAINT seat_returns_cause_check CHECK (cause ~ '^(expired|cancelled|refunded|moved):');

-- One row for each seat that an order exchanged, under the version that the order
-- got by it.
CREATE TABLE seat_moves (
  order_id        uuid NOT NULL REFERENCES orders,
  version         bigint NOT NULL,
  from_seat       bigint NOT NULL REFERENCES seats,
  to_seat         bigint NOT NULL REFERENCES seats CHECK (to_seat <> from_seat),
  by              text NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (order_id, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seat_moves
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

ALTER TABLE notices
  DROP CONSTRAINT notices_kind_check,
  ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('order.paid', 'order.expired', 'order.cancelled', 'order.moved', 'tickets.returned',
     'event.exhausted', 'event.reopened', 'event.paused',
     'refund.queued', 'refund.confirmed', 'refund.needs_attention',
     'endpoint.disabled', 'endpoint.test'));

-- +goose Down
SELECT 'forward only';
