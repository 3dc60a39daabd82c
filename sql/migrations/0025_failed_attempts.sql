-- +goose Up

-- When an endpoint last failed is asked for whenever anybody looks at how it does.
-- Most endpoints hardly ever fail: without an index of failures alone, all that was
-- ever sent to them is read to find that out.
CREATE INDEX delivery_attempts_failed ON delivery_attempts (endpoint_id, started_at, id)
  WHERE finished_at IS NOT NULL AND (status IS NULL OR status NOT BETWEEN 200 AND 299);
