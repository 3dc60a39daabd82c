-- +goose Up

-- Events without a waiting room: whoever has a ticket of theirs may claim from the
-- opening on, and a gate in front may say no early.
ALTER TABLE events
  -- line: a claim needs a pass. open: it needs a holder, and no pass.
  ADD COLUMN admission text NOT NULL DEFAULT 'line' CHECK (admission IN ('line', 'open')),
  ADD COLUMN gate text NOT NULL DEFAULT 'off' CHECK (gate IN ('off', 'on')),
  -- A waiting room is a gate; a second behind it would only lose what it lets in.
  ADD CHECK (gate = 'off' OR admission = 'open'),
  -- Access codes are used up by places.
  ADD CHECK (admission = 'line' OR codes = 'none');

-- +goose Down
SELECT 'forward only';
