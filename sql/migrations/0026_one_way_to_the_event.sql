-- +goose Up

-- An order's event is its buyer's (event_id, account), whose event is checked. That
-- it is one was asked twice of every claim.
ALTER TABLE orders DROP CONSTRAINT orders_event_id_fkey;
