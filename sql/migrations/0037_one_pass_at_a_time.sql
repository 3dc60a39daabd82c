-- +goose Up

-- Whether a holder has a pass, by whatever place: asked before another is written.
CREATE INDEX passes_of_holder ON passes (event_id, epoch, holder);

-- +goose Down
SELECT 'forward only';
