-- +goose Up

-- How an event's pages look: whose they are, in which colour, and what the
-- organiser says beside. Nothing of a sale hangs on it.
CREATE TABLE event_looks (
  event_id   text PRIMARY KEY REFERENCES events,
  by_name    text NOT NULL CHECK (length(by_name) <= 80),
  accent     text NOT NULL CHECK (accent = '' OR accent ~ '^#[0-9a-f]{6}$'),
  note       text NOT NULL CHECK (length(note) <= 600),
  set_by     text NOT NULL,
  set_at     timestamptz NOT NULL DEFAULT now()
);
