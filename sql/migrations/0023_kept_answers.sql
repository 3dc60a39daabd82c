-- +goose Up

-- A provider keeps its first answer to a key, also where that is a failure of its
-- own. A payment whose opening met one never gets another answer: its buyer begins
-- another, and the provider is searched for what the first may have left there.

ALTER TABLE payments
  -- Since then it is known that no answer will come; it counts while it is opening.
  ADD COLUMN lost_at timestamptz;

-- The backlog's figures ask what was closed during the last minutes.
CREATE INDEX refund_changes_at ON refund_changes (at);

-- +goose Down
SELECT 'forward only';
