-- +goose Up

-- Whether the provider opens an event's payments, by each replica's own account. It
-- may refuse one event's for what that event is (a price below its least, a currency
-- that the method does not take): that shuts that event's door, and no other's.
CREATE TABLE opening_reports (
  replica         text NOT NULL,
  event_id        text NOT NULL,
  at              timestamptz NOT NULL,
  opened_at       timestamptz, -- the last payment that was opened
  refused_at      timestamptz, -- the last that was refused
  refusing_since  timestamptz, -- when the first was refused, after the last that was opened
  refused_orders  smallint NOT NULL CHECK (refused_orders >= 0), -- of which orders since then, a few at most
  PRIMARY KEY (replica, event_id),
  CHECK (refusing_since IS NULL OR refused_at IS NOT NULL AND refused_orders > 0)
);

-- +goose Down
SELECT 'forward only';
