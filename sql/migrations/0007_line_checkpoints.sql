-- +goose Up

-- Where each line is, written once a second: when the line's own store is lost,
-- a new one starts from here, and signed tickets are still places in it.
CREATE TABLE line_checkpoints (
  event_id        text NOT NULL REFERENCES events,
  epoch           bigint NOT NULL,
  -- The line was begun in its store; what comes next would be a second time.
  opened          boolean NOT NULL,
  -- No index has been allotted from here on, whatever else is out of date.
  ceiling         bigint NOT NULL CHECK (ceiling >= 0),
  -- Of the door, as it was when this was written.
  front           bigint NOT NULL,
  taken           bigint NOT NULL,
  term            bigint NOT NULL,
  beat            bigint NOT NULL,
  -- How many are drawn, once the lobby has closed.
  lobby           bigint CHECK (lobby >= 0),
  drawn           boolean NOT NULL CHECK (NOT drawn OR lobby IS NOT NULL),
  at              timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, epoch)
);

-- +goose Down
SELECT 'forward only';
