-- +goose Up

-- How the lobby of an event is drawn: written down before it opens, so that
-- nobody can choose afterwards. The line's store says what came of it.

CREATE TABLE draws (
  event_id        text NOT NULL REFERENCES events,
  epoch           bigint NOT NULL,
  -- Secret until the lobby has closed; its commitment is published at once.
  seed            bytea NOT NULL CHECK (length(seed) = 32),
  commitment      bytea NOT NULL GENERATED ALWAYS AS (sha256(seed)) STORED,
  lobby_opens_at  timestamptz NOT NULL,
  lobby_closes_at timestamptz NOT NULL CHECK (lobby_closes_at > lobby_opens_at),
  -- The public value that decides too, by the name under which everybody finds
  -- it ("drand quicknet, round 1234567"); empty: none. And the value itself,
  -- as it was published.
  beacon          text NOT NULL DEFAULT '' CHECK (length(beacon) <= 200),
  value           text CHECK (length(value) BETWEEN 1 AND 200),
  PRIMARY KEY (event_id, epoch),
  CHECK (value IS NULL OR beacon <> '')
);

-- +goose StatementBegin
CREATE FUNCTION keep_draw() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.value IS NULL AND clock_timestamp() >= OLD.lobby_closes_at
     AND (NEW.event_id, NEW.epoch, NEW.seed, NEW.lobby_opens_at, NEW.lobby_closes_at, NEW.beacon)
       = (OLD.event_id, OLD.epoch, OLD.seed, OLD.lobby_opens_at, OLD.lobby_closes_at, OLD.beacon) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'a draw is fixed before its lobby opens; its beacon''s value is written once, after the lobby has closed'
    USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER draws_fixed BEFORE UPDATE OR DELETE ON draws
  FOR EACH ROW EXECUTE FUNCTION keep_draw();

-- +goose Down
SELECT 'forward only';
