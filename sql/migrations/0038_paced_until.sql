-- +goose Up

-- What next_start_at is, where its rate and not its receiver's wish made it so. A rate
-- moves it by a minute at most: one that is further ahead is of before the clock was
-- set back, and holds nothing back.
ALTER TABLE endpoints ADD COLUMN paced_until timestamptz NOT NULL DEFAULT '-infinity';

-- +goose Down
SELECT 'forward only';
