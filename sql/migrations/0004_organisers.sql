-- +goose Up

-- Who may run which sale, who changed what, and how many connections all
-- processes together may take.

-- An event is one organiser's. house is whoever runs the installation.
ALTER TABLE events ADD COLUMN organiser text NOT NULL DEFAULT 'house'
  CHECK (organiser ~ '^[a-z0-9][a-z0-9-]{0,62}$');

-- Keys of the organisers' API. A row is never deleted: its name stands in
-- event_changes, and is nobody else's later.
CREATE TABLE organiser_keys (
  organiser       text NOT NULL CHECK (organiser ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name            text NOT NULL CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
  -- SHA-256 of the key, which is 256 random bits: there is nothing to guess
  -- that a slow hash could slow down. The key itself is shown once.
  hash            bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  scopes          text[] NOT NULL CHECK (cardinality(scopes) BETWEEN 1 AND 20),
  created_at      timestamptz NOT NULL DEFAULT now(),
  expires_at      timestamptz CHECK (expires_at > created_at),
  revoked_at      timestamptz,
  PRIMARY KEY (organiser, name)
);

-- What organisers asked for by an Idempotency-Key, and what they were answered:
-- the same again is answered the same, and does nothing.
CREATE TABLE organiser_attempts (
  organiser       text NOT NULL,
  attempt         text NOT NULL CHECK (length(attempt) BETWEEN 1 AND 200),
  request         bytea NOT NULL CHECK (length(request) = 32),
  answer          jsonb NOT NULL,
  at              timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organiser, attempt)
);

-- The audit's row of a change also says who made it and what it was before:
-- {"release_rate": [50, 80]}. NULL is the event's creation.
ALTER TABLE event_changes
  ADD COLUMN by text NOT NULL DEFAULT '',
  ADD COLUMN changed jsonb;
CREATE INDEX event_changes_of ON event_changes (event_id, id);

-- Whoever changes an event for somebody says for whom (waitroom.by); what says
-- nothing is named by its connection, in brackets, as no key is.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION record_event_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  diff jsonb;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    SELECT jsonb_object_agg(n.key, jsonb_build_array(o.value, n.value)) INTO diff
    FROM jsonb_each(event_settings(OLD)) o JOIN jsonb_each(event_settings(NEW)) n USING (key)
    WHERE o.value <> n.value;
    diff := coalesce(diff, '{}');
  END IF;
  INSERT INTO event_changes (event_id, control, release_rate, opens_at, epoch, version, by, changed)
  VALUES (NEW.id, NEW.control, NEW.release_rate, NEW.opens_at, NEW.epoch, NEW.version,
    coalesce(nullif(current_setting('waitroom.by', true), ''), '(' || current_setting('application_name') || ')'), diff);
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- An event as JSON, whatever columns it has; times as seconds; without its seat
-- map, which plan_hash names.
-- +goose StatementBegin
CREATE FUNCTION event_settings(e events) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  e.seatmap := NULL; -- before it is written out: it has megabytes
  RETURN to_jsonb(e) - 'seatmap' - 'version' || jsonb_build_object(
    'pass_life', extract(epoch FROM e.pass_life), 'call_window', extract(epoch FROM e.call_window),
    'pay_within', extract(epoch FROM e.pay_within), 'pay_extension', extract(epoch FROM e.pay_extension));
END $$;
-- +goose StatementEnd

-- What each process declares that it may take of Postgres, written anew while
-- it runs, so that each can add all of them up before it starts.
CREATE TABLE connection_shares (
  process         text PRIMARY KEY,
  replicas        int NOT NULL CHECK (replicas > 0),
  conns           int NOT NULL CHECK (conns > 0),
  uses            text NOT NULL,
  at              timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
SELECT 'forward only';
