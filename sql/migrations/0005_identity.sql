-- +goose Up

-- What an event asks of who joins, beside a secret: an account of the
-- organiser's sign-in, an access code. Who has a live place is asked nothing.
ALTER TABLE events
  ADD COLUMN accounts text NOT NULL DEFAULT 'none' CHECK (accounts IN ('none', 'required')),
  ADD COLUMN codes text NOT NULL DEFAULT 'none' CHECK (codes IN ('none', 'required'));

-- Access codes, each with how often it may be used. Who used them is in the
-- line's store, by holder. The code itself is kept nowhere: its hash is SHA-256
-- over the event, a zero byte and the code in capitals, without spaces and dashes.
CREATE TABLE access_codes (
  event_id        text NOT NULL REFERENCES events,
  hash            bytea NOT NULL CHECK (length(hash) = 32),
  uses            int NOT NULL CHECK (uses BETWEEN 1 AND 10000),
  PRIMARY KEY (event_id, hash)
);

-- +goose Down
DROP TABLE access_codes;
ALTER TABLE events DROP COLUMN accounts, DROP COLUMN codes;
