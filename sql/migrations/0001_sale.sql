-- +goose Up

-- The sale: what is sold, who holds it, what was paid. The states are those of
-- docs/STATES.md; every CHECK and partial unique index below restates one of
-- its rules, so that a bug in Go is an error and not an oversold seat.

CREATE TABLE events (
  id              text PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  title           text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
  venue           text NOT NULL DEFAULT '',
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- What the organiser wants; what the line is doing follows from it, the
  -- stock and the health of what we depend on. closed is final.
  control         text NOT NULL DEFAULT 'run' CHECK (control IN ('run', 'paused', 'closed')),
  opens_at        timestamptz NOT NULL,
  closes_at       timestamptz CHECK (closes_at > opens_at),
  -- People a second. NULL was never set, and a rate that was never set lets
  -- nobody in: it is closed, not unlimited (P10).
  release_rate    double precision CHECK (release_rate > 0 AND release_rate <= 10000),
  line_cap        bigint NOT NULL DEFAULT 2000000 CHECK (line_cap > 0),
  order_limit     int NOT NULL DEFAULT 4 CHECK (order_limit BETWEEN 1 AND 100),
  account_limit   int NOT NULL DEFAULT 4 CHECK (account_limit >= order_limit AND account_limit <= 10000),
  pass_quota      int NOT NULL DEFAULT 4 CHECK (pass_quota BETWEEN 1 AND 100),
  pass_life       interval NOT NULL DEFAULT '10 minutes' CHECK (pass_life BETWEEN '10 seconds' AND '1 hour'),
  call_window     interval NOT NULL DEFAULT '2 minutes' CHECK (call_window BETWEEN '5 seconds' AND '1 hour'),
  pay_within      interval NOT NULL DEFAULT '10 minutes' CHECK (pay_within BETWEEN '1 second' AND '2 days'),
  -- Entering payment moves pay_by once, to at least this long from then.
  pay_extension   interval NOT NULL DEFAULT '5 minutes' CHECK (pay_extension BETWEEN '0 seconds' AND '1 day'),
  -- Learnt figures start here; NULL takes the defaults of docs/decisions.
  share_prior     double precision CHECK (share_prior > 0 AND share_prior <= 1),
  tickets_prior   double precision CHECK (tickets_prior >= 1 AND tickets_prior <= 100),
  stock_slack     double precision NOT NULL DEFAULT 0.5 CHECK (stock_slack BETWEEN 0 AND 1),
  -- The organiser's hall; the immutable seat map is served under this hash.
  plan_hash       text CHECK (plan_hash ~ '^[0-9a-f]{64}$'),
  seatmap         bytea,
  epoch           bigint NOT NULL DEFAULT 1 CHECK (epoch > 0),
  version         bigint NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CHECK ((plan_hash IS NULL) = (seatmap IS NULL))
);

CREATE TABLE price_tiers (
  event_id        text NOT NULL REFERENCES events,
  id              text NOT NULL CHECK (length(id) BETWEEN 1 AND 100),
  amount_minor    bigint NOT NULL CHECK (amount_minor BETWEEN 1 AND 100000000000),
  color           text NOT NULL DEFAULT '',
  PRIMARY KEY (event_id, id)
);

-- Who buys. One row per event and account, locked before anything else of that
-- account: it makes claims, limits and attempt keys of one account take turns.
CREATE TABLE buyers (
  event_id        text NOT NULL REFERENCES events,
  account         text NOT NULL CHECK (length(account) BETWEEN 1 AND 200),
  -- Seats in the account's pending and paid orders.
  held            int NOT NULL DEFAULT 0,
  seat_limit      int NOT NULL,
  PRIMARY KEY (event_id, account),
  CHECK (held BETWEEN 0 AND seat_limit)
) WITH (fillfactor = 80);

-- People let in: one row per pass, committed before the pass is handed out.
-- A place gets one pass, a credit (take) is used for one pass.
CREATE TABLE passes (
  event_id        text NOT NULL REFERENCES events,
  epoch           bigint NOT NULL,
  take            bigint NOT NULL CHECK (take > 0),
  place           bigint NOT NULL CHECK (place >= 0),
  holder          text NOT NULL,
  quota           int NOT NULL CHECK (quota > 0),
  taken_at        timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL CHECK (expires_at > taken_at),
  PRIMARY KEY (event_id, epoch, take),
  UNIQUE (event_id, epoch, place)
);

CREATE TABLE orders (
  id              uuid PRIMARY KEY,
  event_id        text NOT NULL REFERENCES events,
  account         text NOT NULL,
  holder          text NOT NULL,
  epoch           bigint NOT NULL,
  place           bigint NOT NULL,
  take            bigint NOT NULL,
  -- The purchase attempt: the caller's Idempotency-Key, and what it asked for.
  attempt         text NOT NULL CHECK (length(attempt) BETWEEN 1 AND 200),
  body_hash       bytea NOT NULL CHECK (length(body_hash) = 32),
  status          text NOT NULL DEFAULT 'pending'
                  CHECK (status IN ('pending', 'paid', 'expired', 'cancelled')),
  seat_count      int NOT NULL CHECK (seat_count > 0),
  amount_minor    bigint NOT NULL CHECK (amount_minor >= 0),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  pay_by          timestamptz NOT NULL,
  extended_at     timestamptz,
  payment_id      uuid,
  paid_at         timestamptz,
  ended_at        timestamptz,
  version         bigint NOT NULL DEFAULT 1,
  created_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, account, attempt),
  FOREIGN KEY (event_id, account) REFERENCES buyers,
  CHECK ((status = 'paid') = (payment_id IS NOT NULL)),
  CHECK ((status = 'paid') = (paid_at IS NOT NULL)),
  CHECK ((status IN ('expired', 'cancelled')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
-- Plans are made while orders is empty, and kept: any index that fits looks as
-- good as the right one then. So these fit only who asks for them: a pending
-- order has not ended, and saying so twice keeps a statement that looks for one
-- order by its id from reading all the pending ones; and the last is not led by
-- event_id, or an account's orders would be sought in it among all the event's.
CREATE UNIQUE INDEX orders_one_pending ON orders (event_id, account) WHERE status = 'pending' AND ended_at IS NULL;
CREATE INDEX orders_due ON orders (pay_by) WHERE status = 'pending' AND ended_at IS NULL;
CREATE INDEX orders_created ON orders (created_at);

CREATE TABLE seats (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id        text NOT NULL REFERENCES events,
  -- The seat's index in the event's bitmap, and the order in which general
  -- admission is taken.
  pos             int NOT NULL CHECK (pos >= 0),
  guid            text NOT NULL CHECK (length(guid) BETWEEN 1 AND 100),
  kind            text NOT NULL CHECK (kind IN ('numbered', 'accessible', 'general')),
  section         text NOT NULL,
  row             text NOT NULL DEFAULT '',
  number          text NOT NULL DEFAULT '',
  x               real NOT NULL DEFAULT 0,
  y               real NOT NULL DEFAULT 0,
  price_tier      text NOT NULL,
  held_back       boolean NOT NULL DEFAULT false,
  order_id        uuid REFERENCES orders,
  claimed_at      timestamptz,
  UNIQUE (event_id, guid),
  UNIQUE (event_id, pos),
  FOREIGN KEY (event_id, price_tier) REFERENCES price_tiers,
  CHECK ((order_id IS NULL) = (claimed_at IS NULL)),
  CHECK (order_id IS NULL OR NOT held_back)
) WITH (fillfactor = 70);
-- General admission is taken by pos within its tier; the partial index keeps
-- that as fast for the last unit as for the first.
CREATE INDEX seats_free ON seats (event_id, price_tier, pos)
  WHERE kind = 'general' AND order_id IS NULL AND NOT held_back;
CREATE INDEX seats_of_order ON seats (order_id) WHERE order_id IS NOT NULL;

-- What an order was for. The lines stay when the order ends; seats go back.
CREATE TABLE order_lines (
  order_id        uuid NOT NULL REFERENCES orders,
  seat_id         bigint NOT NULL REFERENCES seats,
  amount_minor    bigint NOT NULL CHECK (amount_minor >= 0),
  PRIMARY KEY (order_id, seat_id)
);

-- A seat goes back once for each reason that it can go back for.
CREATE TABLE seat_returns (
  seat_id         bigint NOT NULL REFERENCES seats,
  cause           text NOT NULL CHECK (cause ~ '^(expired|cancelled|refunded):'),
  event_id        text NOT NULL REFERENCES events,
  order_id        uuid NOT NULL REFERENCES orders,
  at              timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (seat_id, cause)
);
CREATE INDEX seat_returns_recent ON seat_returns (event_id, at);

CREATE TABLE payments (
  id              uuid PRIMARY KEY,
  order_id        uuid NOT NULL REFERENCES orders,
  provider        text NOT NULL,
  -- NULL until the provider's answer, or its notice, names it.
  provider_payment_id text,
  -- The caller's Idempotency-Key; the provider's key is pay:{id}.
  attempt         text,
  status          text NOT NULL DEFAULT 'opening'
                  CHECK (status IN ('opening', 'open', 'captured', 'failed', 'cancelled')),
  amount_minor    bigint NOT NULL CHECK (amount_minor >= 0),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  captured_minor  bigint NOT NULL DEFAULT 0,
  refund_pending_minor bigint NOT NULL DEFAULT 0 CHECK (refund_pending_minor >= 0),
  refunded_minor  bigint NOT NULL DEFAULT 0 CHECK (refunded_minor >= 0),
  -- P5: where captured money stands. NULL while nothing is captured.
  stands          text CHECK (stands IN ('on_order', 'to_refund', 'human')),
  checkout_url    text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  captured_at     timestamptz,
  UNIQUE (provider, provider_payment_id),
  UNIQUE (order_id, attempt),
  CHECK (refunded_minor + refund_pending_minor <= captured_minor),
  CHECK ((status = 'captured') = (captured_minor > 0)),
  CHECK ((status = 'captured') = (stands IS NOT NULL))
);
CREATE UNIQUE INDEX payments_one_pays ON payments (order_id) WHERE stands = 'on_order';
ALTER TABLE orders ADD FOREIGN KEY (payment_id) REFERENCES payments;

-- The provider's notices, as they came. One id is applied once.
CREATE TABLE provider_notices (
  provider        text NOT NULL,
  notice_id       text NOT NULL CHECK (length(notice_id) BETWEEN 1 AND 255),
  kind            text NOT NULL,
  object_id       text NOT NULL DEFAULT '',
  body            bytea NOT NULL,
  -- waiting: its order is not known (yet); tried again, then a human's.
  status          text NOT NULL CHECK (status IN ('waiting', 'applied', 'ignored', 'human')),
  outcome         text NOT NULL DEFAULT '',
  tries           int NOT NULL DEFAULT 0,
  received_at     timestamptz NOT NULL DEFAULT now(),
  next_try_at     timestamptz,
  done_at         timestamptz,
  PRIMARY KEY (provider, notice_id),
  CHECK ((status = 'waiting') = (next_try_at IS NOT NULL)),
  CHECK ((status = 'waiting') = (done_at IS NULL))
);
CREATE INDEX provider_notices_due ON provider_notices (next_try_at) WHERE status = 'waiting';

-- Refunds that we owe or were asked for. Written with the fact that causes
-- them; sent by the outlet alone.
CREATE TABLE refund_operations (
  id              text PRIMARY KEY CHECK (id ~ '^refund:[0-9a-f-]{36}:[^:]+(#[0-9]+)?$'),
  order_id        uuid NOT NULL REFERENCES orders,
  payment_id      uuid NOT NULL REFERENCES payments,
  seat_id         bigint REFERENCES seats,
  parent          text REFERENCES refund_operations,
  reason          text NOT NULL CHECK (reason IN ('late', 'second_payment', 'requested')),
  amount_minor    bigint NOT NULL CHECK (amount_minor > 0),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- The request's bytes, frozen: every send of this operation is this.
  request         bytea NOT NULL,
  status          text NOT NULL DEFAULT 'queued' CHECK (status IN
                  ('queued', 'submitted', 'confirmed', 'rejected', 'unknown', 'manual', 'failed_later')),
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX refund_operations_open ON refund_operations (created_at)
  WHERE status IN ('queued', 'submitted', 'unknown');

-- What a person has to look at. Rows are resolved, never deleted.
CREATE TABLE human_list (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN
                  ('wrong_amount', 'wrong_currency', 'wrong_order', 'unknown_order', 'unreadable')),
  subject         text NOT NULL,
  order_id        uuid REFERENCES orders,
  payment_id      uuid REFERENCES payments,
  detail          text NOT NULL DEFAULT '',
  owner           text NOT NULL DEFAULT '',
  opened_at       timestamptz NOT NULL DEFAULT now(),
  resolved_at     timestamptz,
  UNIQUE (kind, subject)
);

-- The outbox: facts that we tell, written in the transaction that made them.
-- version is the order's (or event's) own count; they are relayed in that order.
CREATE TABLE notices (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN
                  ('order.paid', 'order.expired', 'order.cancelled', 'tickets.returned',
                   'event.exhausted', 'event.reopened', 'event.paused', 'refund.queued')),
  event_id        text NOT NULL REFERENCES events,
  subject         text NOT NULL,
  version         bigint NOT NULL,
  body            jsonb NOT NULL,
  at              timestamptz NOT NULL DEFAULT now(),
  relayed_at      timestamptz,
  UNIQUE (subject, version, kind)
);
CREATE INDEX notices_unrelayed ON notices (id) WHERE relayed_at IS NULL;

-- What each claimer can do, by its own account, once a second. A releaser that
-- has no fresh report lets nobody in.
CREATE TABLE claim_reports (
  claimer         text PRIMARY KEY,
  at              timestamptz NOT NULL,
  claims_per_s    double precision NOT NULL CHECK (claims_per_s >= 0),
  p95_ms          double precision NOT NULL CHECK (p95_ms >= 0),
  queue_age_ms    double precision NOT NULL CHECK (queue_age_ms >= 0),
  queued          int NOT NULL CHECK (queued >= 0),
  errors_per_s    double precision NOT NULL CHECK (errors_per_s >= 0)
);

-- +goose Down
SELECT 'forward only';
