-- +goose Up

-- Evidence: written by the database itself, so that no code path can forget
-- it, and append-only, so that none can change it afterwards.

CREATE TABLE seat_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seat_id         bigint NOT NULL,
  event_id        text NOT NULL,
  from_order      uuid,
  to_order        uuid,
  from_held_back  boolean NOT NULL,
  to_held_back    boolean NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  txid            xid8 NOT NULL DEFAULT pg_current_xact_id()
);

CREATE TABLE order_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id        uuid NOT NULL,
  event_id        text NOT NULL,
  from_status     text,
  to_status       text NOT NULL,
  pay_by          timestamptz NOT NULL,
  payment_id      uuid,
  version         bigint NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  txid            xid8 NOT NULL DEFAULT pg_current_xact_id()
);

-- What the organiser had set, and when: the rate that P8 is judged against.
CREATE TABLE event_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id        text NOT NULL,
  control         text NOT NULL,
  release_rate    double precision,
  opens_at        timestamptz NOT NULL,
  epoch           bigint NOT NULL,
  version         bigint NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Every credit that flowed in and every take, as the line's store said.
CREATE TABLE release_log (
  event_id        text NOT NULL,
  epoch           bigint NOT NULL,
  term            bigint NOT NULL,
  seq             bigint NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('refill', 'take')),
  amount_milli    bigint NOT NULL CHECK (amount_milli >= 0),
  front           bigint NOT NULL,
  at              timestamptz NOT NULL,
  PRIMARY KEY (event_id, epoch, kind, term, seq)
);

-- +goose StatementBegin
CREATE FUNCTION record_seat_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO seat_changes (seat_id, event_id, from_order, to_order, from_held_back, to_held_back)
  SELECT n.id, n.event_id, o.order_id, n.order_id, o.held_back, n.held_back
  FROM before o JOIN after n USING (id)
  WHERE o.order_id IS DISTINCT FROM n.order_id OR o.held_back <> n.held_back;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER seats_evidence AFTER UPDATE ON seats
  REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION record_seat_changes();

-- +goose StatementBegin
CREATE FUNCTION record_new_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_changes (order_id, event_id, from_status, to_status, pay_by, payment_id, version)
  SELECT n.id, n.event_id, NULL, n.status, n.pay_by, n.payment_id, n.version FROM after n;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER orders_evidence_new AFTER INSERT ON orders
  REFERENCING NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION record_new_orders();

-- +goose StatementBegin
CREATE FUNCTION record_order_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_changes (order_id, event_id, from_status, to_status, pay_by, payment_id, version)
  SELECT n.id, n.event_id, o.status, n.status, n.pay_by, n.payment_id, n.version
  FROM before o JOIN after n USING (id);
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER orders_evidence AFTER UPDATE ON orders
  REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION record_order_changes();

-- +goose StatementBegin
CREATE FUNCTION record_event_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_changes (event_id, control, release_rate, opens_at, epoch, version)
  VALUES (NEW.id, NEW.control, NEW.release_rate, NEW.opens_at, NEW.epoch, NEW.version);
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_evidence AFTER INSERT OR UPDATE ON events
  FOR EACH ROW EXECUTE FUNCTION record_event_changes();

-- +goose StatementBegin
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seat_changes
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON order_changes
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON event_changes
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON release_log
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON passes
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seat_returns
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- +goose Down
SELECT 'forward only';
