-- +goose Up

-- What an account may have of one price tier, what is sold to presale codes alone,
-- and how often an account may let its seats lapse.

ALTER TABLE events
  -- Seats of a tier that one account may hold and have paid for: {"Front": 2}. NULL:
  -- no tier has a limit of its own.
  ADD COLUMN tier_limits jsonb CHECK (jsonb_typeof(tier_limits) = 'object' AND tier_limits <> '{}'),
  -- What is sold to codes alone: [{"name", "tiers", "sections", "until"}]; without
  -- until, for good. NULL: everything is sold to everybody.
  ADD COLUMN presales jsonb CHECK (jsonb_typeof(presales) = 'array' AND presales <> '[]'),
  -- Orders that an account may let lapse; after that many each lapse costs it the
  -- cool-down, from the end of the order's time to pay.
  ADD COLUMN lapse_limit int NOT NULL DEFAULT 3 CHECK (lapse_limit BETWEEN 1 AND 1000),
  ADD COLUMN cool_down interval NOT NULL DEFAULT '10 minutes' CHECK (cool_down BETWEEN '0 seconds' AND '1 day');

-- Presale codes, with what is left of their budgets. The code itself is kept
-- nowhere: its hash is made as an access code's is.
CREATE TABLE presale_codes (
  event_id        text NOT NULL REFERENCES events,
  hash            bytea NOT NULL CHECK (length(hash) = 32),
  presale         text NOT NULL CHECK (length(presale) BETWEEN 1 AND 100),
  -- Orders, and seats in them, that it is good for. Used are those of its pending
  -- and paid orders; an order that ends gives back what it used.
  uses            int NOT NULL CHECK (uses BETWEEN 1 AND 1000000),
  seats           int NOT NULL CHECK (seats BETWEEN 1 AND 1000000),
  used            int NOT NULL DEFAULT 0,
  seats_used      int NOT NULL DEFAULT 0,
  PRIMARY KEY (event_id, hash),
  CHECK (used BETWEEN 0 AND uses),
  CHECK (seats_used BETWEEN 0 AND seats)
) WITH (fillfactor = 80);

ALTER TABLE orders
  ADD COLUMN code bytea, -- the hash of the presale code that it used
  ADD FOREIGN KEY (event_id, code) REFERENCES presale_codes;

-- +goose Down
SELECT 'forward only';
