-- +goose Up

-- Organisers are told of what became true by signed webhooks (P12). The states
-- are those of docs/STATES.md.

-- Where an organiser wants to be told. Only active is sent to; that is asked in
-- the statement that takes a delivery, not before it.
CREATE TABLE endpoints (
  id              text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  organiser       text NOT NULL CHECK (organiser ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  url             text NOT NULL CHECK (length(url) BETWEEN 9 AND 2000),
  -- None: every kind, also those that there will be.
  kinds           text[] NOT NULL DEFAULT '{}',
  state           text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'draining', 'disabled')),
  -- Why it is not active: the organiser's word, or what the courier found.
  reason          text CHECK (reason IN ('asked', 'gone', 'failing')),
  -- Retries: at most max_attempts a delivery; its nth attempt begins
  -- max(min_interval, min(dispatch_gap, backoff_base × factor^(n−1))) + slack
  -- after the end of the one before.
  max_attempts    int NOT NULL DEFAULT 12 CHECK (max_attempts BETWEEN 1 AND 100),
  backoff_base    interval NOT NULL DEFAULT '5 s' CHECK (backoff_base BETWEEN '0' AND '1 day'),
  dispatch_gap    interval NOT NULL DEFAULT '1 hour' CHECK (dispatch_gap BETWEEN '0' AND '1 day'),
  min_interval    interval NOT NULL DEFAULT '1 s' CHECK (min_interval BETWEEN '0' AND '1 day'),
  -- What its receiver is spared: starts of attempts, and attempts under way.
  per_minute      int NOT NULL DEFAULT 6000 CHECK (per_minute BETWEEN 1 AND 60000),
  in_flight       int NOT NULL DEFAULT 4 CHECK (in_flight BETWEEN 1 AND 100),
  -- The next attempt starts then at the earliest: per_minute, and what the
  -- receiver asked for by 429, 502, 503, 504 or Retry-After.
  next_start_at   timestamptz NOT NULL DEFAULT '-infinity',
  -- Signing keys, shown once. Both sign until the old one's end.
  secret          bytea NOT NULL CHECK (length(secret) BETWEEN 24 AND 64),
  old_secret      bytea CHECK (length(old_secret) BETWEEN 24 AND 64),
  old_secret_until timestamptz,
  -- Attempts that failed one after the other, over all of its deliveries, and
  -- since when: what disables an endpoint that fails for good.
  failures        int NOT NULL DEFAULT 0 CHECK (failures >= 0),
  failing_since   timestamptz,
  -- Raised by every change of its settings or its state; the ETag.
  version         bigint NOT NULL DEFAULT 1,
  -- Of the notices about it: endpoint.disabled counts by this.
  told            bigint NOT NULL DEFAULT 0,
  created_at      timestamptz NOT NULL DEFAULT now(),
  deleted_at      timestamptz,
  CHECK ((state = 'active') = (reason IS NULL)),
  CHECK ((old_secret IS NULL) = (old_secret_until IS NULL)),
  CHECK ((failures = 0) = (failing_since IS NULL)),
  CHECK (deleted_at IS NULL OR state = 'disabled')
);
CREATE INDEX endpoints_of ON endpoints (organiser, id);

-- What was changed of an endpoint, by whom: a key's name, or courier. Never a secret.
CREATE TABLE endpoint_changes (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  endpoint_id     text NOT NULL REFERENCES endpoints,
  at              timestamptz NOT NULL DEFAULT now(),
  by              text NOT NULL CHECK (length(by) BETWEEN 1 AND 200),
  did             text NOT NULL CHECK (did IN ('added', 'edited', 'rotated', 'state', 'deleted', 'replayed', 'tested')),
  old             jsonb,
  new             jsonb
);
CREATE INDEX endpoint_changes_of ON endpoint_changes (endpoint_id, id DESC);

-- A notice of no event is an organiser's own. The relay writes down how many
-- endpoints it is for, with their deliveries, in one transaction, whether or not
-- there is anybody to publish a hint to.
ALTER TABLE notices
  ALTER COLUMN event_id DROP NOT NULL,
  ADD COLUMN organiser text CHECK (organiser ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  ADD COLUMN addressed int CHECK (addressed >= 0),
  ADD CHECK (num_nonnulls(event_id, organiser) = 1),
  DROP CONSTRAINT notices_kind_check,
  ADD CONSTRAINT notices_kind_check CHECK (kind IN
    ('order.paid', 'order.expired', 'order.cancelled', 'tickets.returned',
     'event.exhausted', 'event.reopened', 'event.paused',
     'refund.queued', 'refund.confirmed', 'refund.needs_attention',
     'endpoint.disabled', 'endpoint.test'));
-- What was told before there were endpoints was for none.
UPDATE notices SET addressed = 0;
CREATE INDEX notices_unaddressed ON notices (id) WHERE addressed IS NULL;

-- One notice for one endpoint: scheduled, under way, delivered or dead. Dead is
-- the dead-letter list. Deliveries are never deleted while their sale is audited.
CREATE TABLE deliveries (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  notice_id       bigint NOT NULL REFERENCES notices,
  endpoint_id     text NOT NULL REFERENCES endpoints,
  status          text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'sending', 'delivered', 'dead')),
  -- Which go this is: a replay begins another, with its own count of attempts.
  go              int NOT NULL DEFAULT 1 CHECK (go >= 1),
  attempts        int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  due_at          timestamptz NOT NULL DEFAULT now(),
  -- Whose it is while it is being sent; after the lease it is lost to him, and
  -- his attempt is written off as one whose end nobody knows.
  courier         text,
  leased_until    timestamptz,
  reason          text CHECK (reason IN ('max_attempts', 'gone', 'endpoint_deleted', 'too_old')),
  ended_at        timestamptz,
  UNIQUE (notice_id, endpoint_id),
  CHECK ((status = 'sending') = (courier IS NOT NULL AND leased_until IS NOT NULL)),
  CHECK ((status = 'dead') = (reason IS NOT NULL)),
  CHECK ((status IN ('delivered', 'dead')) = (ended_at IS NOT NULL)),
  CHECK (status NOT IN ('sending', 'delivered') OR attempts > 0)
);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at, id) WHERE status = 'waiting';
CREATE INDEX deliveries_leased ON deliveries (leased_until) WHERE status = 'sending';
CREATE INDEX deliveries_under_way ON deliveries (endpoint_id) WHERE status = 'sending';
CREATE INDEX deliveries_of ON deliveries (endpoint_id, id DESC);
CREATE INDEX deliveries_dead ON deliveries (endpoint_id, id) WHERE status = 'dead';

-- The ledger: written when the attempt is taken, before anything is sent, and
-- ended once. What was never ended was cut off: it may have arrived.
CREATE TABLE delivery_attempts (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id     bigint NOT NULL REFERENCES deliveries,
  endpoint_id     text NOT NULL REFERENCES endpoints,
  go              int NOT NULL,
  attempt_no      int NOT NULL CHECK (attempt_no >= 1),
  courier         text NOT NULL,
  started_at      timestamptz NOT NULL,
  finished_at     timestamptz CHECK (finished_at >= started_at),
  status          int CHECK (status BETWEEN 100 AND 999),
  error           text NOT NULL DEFAULT '',
  -- The beginning of what was answered, for the organiser to read.
  answer          bytea NOT NULL DEFAULT '' CHECK (length(answer) <= 65536),
  UNIQUE (delivery_id, go, attempt_no),
  CHECK (finished_at IS NOT NULL OR status IS NULL)
);
-- Of one delivery one attempt is under way.
CREATE UNIQUE INDEX delivery_attempts_open ON delivery_attempts (delivery_id) WHERE finished_at IS NULL;
CREATE INDEX delivery_attempts_of ON delivery_attempts (endpoint_id, started_at, id);

-- What was last told of an event's stock: that it is exhausted, or open again. An
-- event that never was exhausted has no row. told is these notices' version.
CREATE TABLE stock_told (
  event_id        text PRIMARY KEY REFERENCES events,
  exhausted       boolean NOT NULL,
  told            bigint NOT NULL CHECK (told >= 1)
);
-- Whether an event has a free seat, without counting. That a free seat was claimed
-- by nobody is said twice, so that this index fits only who asks for it.
CREATE INDEX seats_any_free ON seats (event_id) WHERE order_id IS NULL AND NOT held_back AND claimed_at IS NULL;

-- +goose Down
SELECT 'forward only';
