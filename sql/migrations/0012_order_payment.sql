-- +goose Up

-- An order is paid by a payment of its own, or not at all: whatever a notice of
-- the provider's says, another order's payment is refused here.
ALTER TABLE payments ADD UNIQUE (id, order_id);
ALTER TABLE orders
  DROP CONSTRAINT orders_payment_id_fkey,
  ADD FOREIGN KEY (payment_id, id) REFERENCES payments (id, order_id);

-- +goose Down
SELECT 'forward only';
