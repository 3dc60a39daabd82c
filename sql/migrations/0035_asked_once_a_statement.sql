-- +goose Up

-- Buyers and orders are never deleted, nor named otherwise: the tables refuse it. So a
-- row that refers to one need not lock it to keep it there, and whether it is there is
-- asked once a statement, not once a row. Of a claim's foreign keys two are left, for
-- what they lock: a line's to its seat, which goes when a hall is imported anew, and a
-- buyer's to the event, which such an import locks against claims.

-- +goose StatementBegin
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % has stays, under its name: others refer to it', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER stays BEFORE DELETE OR TRUNCATE OR UPDATE OF event_id, account ON buyers FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER stays BEFORE DELETE OR TRUNCATE OR UPDATE OF id, event_id, account ON orders FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER stays BEFORE UPDATE OF order_id ON order_lines FOR EACH STATEMENT EXECUTE FUNCTION stays();

-- Each looks its row up by key, whatever the tables held when the plan was made: a
-- subquery that is a value is not joined.
-- +goose StatementBegin
CREATE FUNCTION orders_have_buyers() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE lacks text;
BEGIN
  SELECT n.account INTO lacks FROM after n
  WHERE (SELECT b.account FROM buyers b WHERE b.event_id = n.event_id AND b.account = n.account) IS NULL LIMIT 1;
  IF FOUND THEN RAISE EXCEPTION 'an order of no buyer: %', lacks USING ERRCODE = 'foreign_key_violation'; END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION have_orders() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE lacks uuid;
BEGIN
  SELECT n.order_id INTO lacks FROM after n
  WHERE n.order_id IS NOT NULL AND (SELECT o.id FROM orders o WHERE o.id = n.order_id) IS NULL LIMIT 1;
  IF FOUND THEN RAISE EXCEPTION '% of no order: %', TG_TABLE_NAME, lacks USING ERRCODE = 'foreign_key_violation'; END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER refer AFTER INSERT ON orders REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION orders_have_buyers();
CREATE TRIGGER refer AFTER INSERT ON order_lines REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION have_orders();
CREATE TRIGGER refer_new AFTER INSERT ON seats REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION have_orders();
CREATE TRIGGER refer AFTER UPDATE ON seats REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION have_orders();

-- What changed is written down by joining what was with what is. A plan that was made
-- for one row compares each with each, and is kept: on a connection that had held one
-- seat back, to hold a hall back took longer than a statement may.
ALTER FUNCTION record_seat_changes() SET enable_nestloop = off;
ALTER FUNCTION record_order_changes() SET enable_nestloop = off;

ALTER TABLE orders DROP CONSTRAINT orders_event_id_account_fkey;
ALTER TABLE order_lines DROP CONSTRAINT order_lines_order_id_fkey;
ALTER TABLE seats DROP CONSTRAINT seats_order_id_fkey;

-- +goose Down
SELECT 'forward only';
