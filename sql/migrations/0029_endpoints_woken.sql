-- +goose Up

-- When an endpoint was last made to go on at once: given another URL, or taken back into
-- service. What failed before then is due, however many that are: sweeps make it so, some
-- at a time. NULL: none of it is left.
ALTER TABLE endpoints ADD COLUMN woken_at timestamptz;

-- +goose Down
SELECT 'forward only';
