-- +goose Up

-- Buyers who say how many seats and not which get the best block that is free.
ALTER TABLE events
  -- What the hall looks at, in the plan's units. NULL: ahead of its front row.
  ADD COLUMN focus_x real,
  ADD COLUMN focus_y real,
  ADD CHECK ((focus_x IS NULL) = (focus_y IS NULL)),
  -- Whether a block may leave a single seat behind where nothing avoids it.
  ADD COLUMN orphans text NOT NULL DEFAULT 'lenient' CHECK (orphans IN ('lenient', 'strict'));
-- What is free in a hall is read for every batch of such claims; near the end
-- of a sale that is a few seats of many.
CREATE INDEX seats_free_numbered ON seats (event_id, pos)
  WHERE kind <> 'general' AND order_id IS NULL AND NOT held_back;

-- +goose Down
SELECT 'forward only';
