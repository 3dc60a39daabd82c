-- +goose Up

-- Codes of sold seats, and who came in by them. A code names its event, its seat
-- and the time that the seat was taken for its order (its generation); it is
-- derived, and kept nowhere. So a seat that leaves its order, or is taken anew,
-- has another code, and the former is revoked.

-- Codes that opened the door once, and do not any more. Written by the database
-- itself, in the transaction that takes the seat off its paid order, whoever does.
CREATE TABLE code_revocations (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id        text NOT NULL REFERENCES events,
  seat_id         bigint NOT NULL REFERENCES seats,
  order_id        uuid NOT NULL REFERENCES orders,
  claimed_at      timestamptz NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Its place in the event's feed, given to what is committed, by whoever reads
  -- the feed next: ids are drawn before the commit, and a reader by id would miss
  -- what commits late.
  no              bigint CHECK (no > 0),
  UNIQUE (seat_id, order_id, claimed_at),
  UNIQUE (event_id, no)
);
CREATE INDEX code_revocations_unnumbered ON code_revocations (event_id, id) WHERE no IS NULL;

-- +goose StatementBegin
CREATE FUNCTION revoke_seat_code() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- An order that was never paid never had a code.
  INSERT INTO code_revocations (event_id, seat_id, order_id, claimed_at)
  SELECT OLD.event_id, OLD.id, o.id, OLD.claimed_at FROM orders o WHERE o.id = OLD.order_id AND o.status = 'paid'
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER seats_revoke_code AFTER UPDATE OF order_id, claimed_at ON seats FOR EACH ROW
  WHEN (OLD.claimed_at IS NOT NULL AND (OLD.order_id, OLD.claimed_at) IS DISTINCT FROM (NEW.order_id, NEW.claimed_at))
  EXECUTE FUNCTION revoke_seat_code();

-- What went back before there were codes never had one. It stands here so that
-- every seat that left a paid order does.
INSERT INTO code_revocations (event_id, seat_id, order_id, claimed_at, at)
SELECT event_id, seat_id, order_id, at, at FROM seat_returns WHERE cause ~ '^(refunded|moved):';

-- +goose StatementBegin
CREATE FUNCTION number_code_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.no IS NULL AND NEW.no IS NOT NULL
     AND (OLD.id, OLD.event_id, OLD.seat_id, OLD.order_id, OLD.claimed_at, OLD.at)
       = (NEW.id, NEW.event_id, NEW.seat_id, NEW.order_id, NEW.claimed_at, NEW.at) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a revocation gets its number, once, and else never changes' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER code_revocations_number BEFORE UPDATE ON code_revocations
  FOR EACH ROW EXECUTE FUNCTION number_code_revocation();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON code_revocations
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- How far each event's feed is numbered; whoever numbers holds its row.
CREATE TABLE code_revocation_counts (
  event_id        text PRIMARY KEY REFERENCES events,
  last            bigint NOT NULL DEFAULT 0 CHECK (last >= 0)
);

-- Every code that was shown at a door, and what the door was told. A scan is named
-- by its device, once: the same again is answered from here.
CREATE TABLE scans (
  no              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id        text NOT NULL REFERENCES events,
  device          text NOT NULL CHECK (length(device) BETWEEN 1 AND 100),
  id              text NOT NULL CHECK (length(id) BETWEEN 1 AND 200),
  request         bytea NOT NULL CHECK (length(request) = 32),
  gate            text NOT NULL CHECK (length(gate) BETWEEN 1 AND 100),
  by              text NOT NULL CHECK (length(by) BETWEEN 1 AND 200),
  -- By the device's clock; uploaded later where it had no network.
  scanned_at      timestamptz NOT NULL,
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The device let its bearer in before it asked.
  let_in          boolean NOT NULL,
  outcome         text NOT NULL CHECK (outcome IN ('admitted', 'already_in', 'revoked', 'not_paid', 'not_valid')),
  flaw            text CHECK (flaw IN ('unreadable', 'unknown_key', 'signature', 'other_event', 'unknown')),
  -- The code's seat and generation. NULL: it is none of ours.
  seat_id         bigint REFERENCES seats,
  order_id        uuid REFERENCES orders,
  claimed_at      timestamptz,
  -- The scan that the code was admitted by, and the code's revocation.
  first           bigint REFERENCES scans,
  revocation      bigint REFERENCES code_revocations,
  UNIQUE (event_id, device, id),
  CHECK ((outcome = 'not_valid') = (flaw IS NOT NULL)),
  CHECK (num_nulls(order_id, claimed_at) IN (0, 2)),
  CHECK ((outcome = 'not_valid') = (order_id IS NULL)),
  CHECK (order_id IS NULL OR seat_id IS NOT NULL),
  CHECK ((outcome = 'already_in') <= (first IS NOT NULL)),
  CHECK ((outcome = 'revoked') = (revocation IS NOT NULL)),
  CHECK (outcome <> 'admitted' OR first IS NULL)
);
-- A code opens the door once.
CREATE UNIQUE INDEX scans_one_entry ON scans (seat_id, order_id, claimed_at) WHERE outcome = 'admitted';
-- Somebody is in whom we would not have let in.
CREATE INDEX scans_conflicts ON scans (event_id, no DESC) WHERE let_in AND outcome <> 'admitted';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON scans
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- +goose Down
SELECT 'forward only';
