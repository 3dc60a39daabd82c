// Made from api/openapi.yaml by make assets.
export interface paths {
    "/.well-known/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/attempts/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of an attempt */
        get: operations["getAttempt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim seats, all or none
         * @description By a pass; where the event is sold without a line, by its ticket. Such an
         *     event may have a gate, which says sold_out or seats_taken early.
         */
        post: operations["claimSeats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/passes/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Leave without buying more */
        delete: operations["leaveInside"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/passes/me/alive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A sign of life, every 10 s at least while choosing */
        post: operations["stayInside"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/places": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join the line; the same secret always gets the same live place
         * @description The bearer is the holder's possession secret, 22 to 128 characters of
         *     base64url. It is this request's idempotency key. Without one the server
         *     makes it and returns it, once. Whoever has a ticket shows it too: it is
         *     their place still when the line's store has lost it.
         *     An event that is sold without a line gives a ticket that is no place:
         *     its state is open, and the ticket claims seats and opens orders.
         *     Events may ask for more, of who has no live place yet; what they ask for
         *     comes in the body. Where an event asks for accounts the account is the
         *     holder, and the secret says nothing.
         */
        post: operations["joinLine"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/places/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same that a page works out, for clients that cannot */
        get: operations["getPlace"];
        put?: never;
        post?: never;
        /** Give the place up */
        delete: operations["leaveLine"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/places/me/pass": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a called place for its pass; held at the door for up to 2 s
         * @description Whoever is suspected there is asked for a challenge first (challenge_required); the place and its turn are kept meanwhile.
         */
        post: operations["takePass"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/revocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tickets that open nothing any more, for scanners without a network
         * @description Needs scans:read. Up to 500 a page, numbered from 1 without a gap in the order that
         *     they can be read in: whoever goes on from `next` misses none, whatever commits
         *     late. A revocation is never taken back. On the admin listener.
         */
        get: operations["listRevocations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/scans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell of a seat code that was shown at the door, and learn what to do
         * @description Needs scans:write. One of all scans of a ticket is `admitted`. The key names the
         *     scan among its device's: the same again, in whatever way and however often, is
         *     recorded once and answered with the same bytes. After a 503 it is not known
         *     whether it was recorded: ask again with the same key. On the admin listener.
         */
        post: operations["scanCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/scans/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who is in and should not be, as two doors without a network let one code in, or a device that did not know of a revocation
         * @description Needs scans:read. The latest first. On the admin listener.
         */
        get: operations["listConflicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{event}/scans/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell of scans that were made without a network
         * @description Needs scans:write. 1 to 100 scans, each recorded or refused by itself and
         *     answered in its place. Each has an `id`, which is what an Idempotency-Key is to a
         *     single scan, and may be one that was told so: telling all of it again is safe.
         *     On the admin listener.
         */
        post: operations["uploadScans"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{order}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{order}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a pending order's seats back */
        post: operations["cancelOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{order}/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a payment (paycallback's listener)
         * @description A browser's form with `ticket` and `key` is answered with 303 to the checkout page.
         */
        post: operations["openPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{order}/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How the refunds of an order stand
         * @description Needs refunds:read; or refunds:write, and the customer.
         */
        get: operations["listRefunds"];
        put?: never;
        /**
         * Ask for the refund of one line, for its customer; never an amount
         * @description Needs refunds:write. What is refunded names itself: the same asking, any
         *     number of times and after anything was lost, is the same operation, and the
         *     answer is how that stands now. So it needs no Idempotency-Key. What a person
         *     refused is brought up again by a key that may approve, with an Idempotency-Key
         *     that was not used before: without one, or with one that was, it may be a copy of
         *     what was asked before the refusal, and is answered `approval_refused`. Nothing is
         *     told as failed that is not known to be: after `queued`, `sending` and
         *     `unknown`, do not send again. Above the organiser's limit (of all that is
         *     asked of the order) the answer is `needs_approval`, and nothing is sent
         *     before a person has said yes. On the admin listener.
         */
        post: operations["askForRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What all claimers together do now, for the events of everybody
         * @description Needs line:read.
         */
        get: operations["getClaims"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was, is and will be sent, also to endpoints that were deleted; newest first
         * @description Needs webhooks:read.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/deliveries/{delivery}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A delivery, its body as it is sent, and what was answered
         * @description Needs webhooks:read.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/deliveries/{delivery}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a delivery anew that was delivered or is dead
         * @description Needs webhooks:write. The same webhook-id, another go with all of its
         *     attempts. One that waits or is being sent is 409 delivery_not_ended.
         */
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where the organiser is told, and how each does
         * @description Needs webhooks:read. Secrets are never shown again. Another organiser's endpoint is answered like none, on every route.
         */
        get: operations["listEndpoints"];
        put?: never;
        /**
         * Add an endpoint; its secret is shown once
         * @description Needs webhooks:write. What is left out is as usual. The same key and body
         *     again is answered with the endpoint that was made, and `secret` null: whoever
         *     lost it rotates it. An installation has a limit of endpoints an organiser:
         *     409 too_many_endpoints.
         */
        post: operations["addEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An endpoint, and how it does
         * @description Needs webhooks:read.
         */
        get: operations["getEndpoint"];
        put?: never;
        post?: never;
        /**
         * End an endpoint for good; what waits for it is dead
         * @description Needs webhooks:write. Its waiting deliveries are `dead` by `endpoint_deleted`
         *     at once, or soon where very many wait; none is sent. What is under way
         *     ends. Deliveries and record stay.
         */
        delete: operations["deleteEndpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The record of an endpoint's changes, also of a deleted one's; newest first
         * @description Needs webhooks:read. A secret is never in it.
         */
        get: operations["listEndpointChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin anew all that ended of what became true since then
         * @description Needs webhooks:write. Each of those that there are when it is first asked for is sent
         *     again once, under its own webhook-id and through the same limits. What takes
         *     long is answered 202 with how far it came: the same key and body goes on.
         */
        post: operations["replaySince"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make another secret, shown once; the present one signs too for a while
         * @description Needs webhooks:write. Two secrets sign at most. While the one before the
         *     present one does, another rotation is 409 secret_rotating, whose `until` says
         *     how long: `replace` makes another in the place of the present one, which got
         *     lost, and leaves the old one its time; an `overlap_s` of 0 has only the new
         *     one sign, because another is known to somebody who should not know it. The same
         *     key and body again rotates nothing and shows nothing.
         */
        post: operations["rotateEndpointSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All that an organiser sets of an endpoint
         * @description Needs webhooks:read.
         */
        get: operations["getEndpointSettings"];
        /**
         * Set all of them; what was read and put back changes nothing
         * @description Needs webhooks:write. Attempts that begin from then on go by them. Settings
         *     that were changed meanwhile are 412 settings_changed.
         */
        put: operations["putEndpointSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Make it active, draining or disabled
         * @description Needs webhooks:write. No attempt begins once draining or disabled was
         *     answered; what is for it waits. Made active after it was disabled, its
         *     failures are forgotten and its deliveries go on.
         */
        put: operations["putEndpointState"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/endpoints/{endpoint}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an endpoint.test, to this endpoint alone
         * @description Needs webhooks:write. It goes through the same limits as every other notice;
         *     what was answered stands in its delivery. While one test is on its way, that
         *     is the test.
         */
        post: operations["testEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The key's organiser's events
         * @description Needs line:read. Another organiser's event is answered like none, on every route.
         */
        get: operations["listOwnEvents"];
        put?: never;
        /**
         * Create an event from its file, with its hall - all or nothing
         * @description Needs events:write. It lets nobody in before it has a rate and seats. What the
         *     file or the plan says wrongly is 422 flawed_file, with every place in `flaws`;
         *     an id that is taken is 409 event_exists, also when the answer to the first was
         *     lost. A time that is past is flawed_file as well: an opens_at of more than a
         *     minute ago, a lobby_closes_at, a closes_at.
         */
        post: operations["createEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The record of changes - who, when, what it was, what it became; newest first
         * @description Needs line:read. Rows are written by the database itself and never changed.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the sale for good; what is in carts may still be paid
         * @description Needs line:write.
         */
        post: operations["closeSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the line is doing now; no number is older than 2 s
         * @description Needs line:read.
         */
        get: operations["getLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whose pages they are, in which colour, and what is said on them
         * @description Needs line:read.
         */
        get: operations["readLook"];
        /**
         * Set it; pages follow within six seconds
         * @description Needs line:write. Nothing of the sale hangs on it, and it does not raise the settings' version.
         */
        put: operations["setLook"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/orders/{order}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a seat of a paid order for another that costs as much or more
         * @description Needs line:write. The other seat is free, or held back by the house. The price
         *     stays what was paid; the order has a new version, and order.moved is told.
         */
        post: operations["moveSeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/orders/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give pending orders more time to pay, in an outage of the payment provider
         * @description Needs line:write. Orders that are pending now, and whose time is not over
         *     yet, get it; each once in its life, whatever is asked. An answer that does
         *     not come may have extended some: the same again goes on with the others.
         */
        post: operations["extendOrders"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/outlook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a rate would mean for the people who are here now
         * @description Needs line:read. By the arithmetic that people's own pages are told by; nobody
         *     who is still to come is thought of, and no seat that may come back. A line that
         *     is paused is looked at as if it went on.
         */
        get: operations["getOutlook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let nobody in until resume; who is inside may still buy
         * @description Needs line:write.
         */
        post: operations["pauseSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give an event its hall, while nobody has ordered of it - all or nothing
         * @description Needs events:write. Seats held back stay so by their guid; a plan that lacks
         *     one, or what limits and presales name, is 409 plan_lacks. Categories that the
         *     event sells already keep their price without.
         */
        post: operations["importPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo pause or stop
         * @description Needs line:write.
         */
        post: operations["resumeSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/seats/free": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a block of the seats on sale that the house holds back
         * @description Needs line:write. The first of the hall first; withdrawn ones stay off. They go
         *     to whoever is at the door, then the line, at the rate in force.
         */
        post: operations["freeHeldSeats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/seats/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put withdrawn seats back on sale
         * @description Needs line:write. Those too that the house held back before.
         */
        post: operations["restoreSeats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/seats/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take seats off sale, because they are broken or their view is blocked
         * @description Needs line:write. What is in a cart is off once it comes back; what is sold is refused.
         */
        post: operations["withdrawSeats"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/seats/withdrawn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Seats that are off sale, as they stand now
         * @description Needs line:read. Those that are sold were paid for while they were being withdrawn; exchange them.
         */
        get: operations["getWithdrawnSeats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All that an organiser sets of a sale
         * @description Needs line:read.
         */
        get: operations["getSettings"];
        /**
         * Set all of them; what was read and put back changes nothing
         * @description Needs line:write. In force within a second. Settings that were changed
         *     meanwhile are 412 settings_changed, unless they are what is asked for:
         *     a PUT whose answer was lost may be sent again as it was. A rate that more than doubles is
         *     409 confirm_needed, whose `confirm` member is what to send as `Confirm`.
         */
        put: operations["putSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/events/{event}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Emergency stop - nobody is let in from now on, whatever else is in doubt
         * @description Needs line:write. Acts before it is written down, and asks nothing: no
         *     confirmation, no If-Match; an Idempotency-Key only if you like. A key that
         *     was used for a stop before stops nothing again: control says how the sale is
         *     now, and a new stop needs a new key, or none.
         */
        post: operations["stopSale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/human": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a person has to look at, the newest first; resolved items stay
         * @description Needs refunds:read. What is of no event is the house's.
         */
        get: operations["listHuman"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/human/{item}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An item, with its history
         * @description Needs refunds:read.
         */
        get: operations["getHumanItem"];
        put?: never;
        /**
         * Take it, note, push it again, decide, begin anew, give seats back, resolve
         * @description Needs human:write. `can` of the item says what its state allows; anything
         *     else is `not_now`. push goes through the same outlet as every other call.
         *     Where somebody refunded of the payment by hand, for a line that nobody knows
         *     (`by_hand_minor` of the item), push and renew are `by_hand_too`: it may be this
         *     line's money. renew_all_the_same is for who has seen at the provider that it is not.
         *     look_again asks the provider anew about a payment of which nobody could say what
         *     became (`payment_unknown`): what is found out takes the item off the list.
         *     give_back frees all seats that an order still has, where all of its payment
         *     was told to have been refunded by hand: their codes are revoked, no money moves.
         *     The same Idempotency-Key and body is one deed; a note has to have one.
         */
        post: operations["doHumanItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/orders/{order}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An order, its lines, and how the refund of each stands
         * @description Needs refunds:read; or refunds:write, and the customer.
         */
        get: operations["getOrganiserOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/plans/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a seating plan and say what is in it; nothing is kept
         * @description Needs line:read. JSON as the editor at seats.pretix.eu writes it, or CSV, by the name's ending.
         */
        post: operations["checkPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/refunds/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Refunds that wait for a person's word, or that were decided; those that wait the oldest first, the decided the newest
         * @description Needs refunds:read.
         */
        get: operations["listApprovals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/refunds/approvals/{approval}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A person's word on a refund that somebody else asked for
         * @description Needs refunds:approve, of another key than asked. An approval is bound to
         *     order, line, payment and amount: whatever is not the same any more is
         *     `approval_changed`, and has to be asked anew. It is decided once: the same
         *     decision with the same note by whoever made it is answered as the first
         *     time, with how the refund stands by now; anything else is
         *     `approval_decided`. After a refusal whoever asks is answered `approval_refused`, but for a key that may
         *     approve and a new Idempotency-Key: it brings the same up again as another
         *     approval, for another key.
         */
        post: operations["decideApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organiser/refunds/forecast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * When the backlog of refunds clears, by the closures measured
         * @description Needs refunds:read. The outlet is one for all organisers.
         */
        get: operations["getRefundForecast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/provider/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The provider's webhook (paycallback's listener); 2xx only once its effect is durable */
        post: operations["receiveNotice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/code-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What seat codes are signed with (RFC 7517, Ed25519 as in RFC 8037), for scanners that check them alone (docs/TICKETS.md) */
        get: operations["getCodeKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is on sale */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/events/{event}/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counts and a bitmap of the seats, a second old at most
         * @description Since a cursor only what has changed is told (docs/SEATMAP.md). A cursor
         *     that is not known, too old or none at all gets the whole.
         */
        get: operations["getAvailability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/events/{event}/seatmap.{hash}.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Geometry and prices; never changes under its hash (docs/SEATMAP.md) */
        get: operations["getSeatmap"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/events/{event}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The shared document; a page works out its place, wait and verdict from it */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * For gateways - 204 when the bearer is a good pass, 401 when it is not
         * @description A gateway in front of one event names it: a pass for another is then
         *     refused, and a request without `Authorization` may carry the pass in the
         *     cookie `pass.{event}` that the pages keep. Without a name any event's
         *     pass is good, by bearer alone. The answer is for that one pass: keep it
         *     by the pass or not at all (docs/EDGE.md).
         */
        get: operations["verifyPass"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Approval: {
            amount_minor: number;
            /** Format: date-time */
            asked_at: string;
            asked_by: string;
            /** @enum {string} */
            cause: "over_limit" | "refunded_by_hand";
            currency: string;
            /** Format: date-time */
            decided_at: string | null;
            decided_by: string | null;
            /** @enum {string|null} */
            decision: "approved" | "refused" | "changed" | null;
            event: string;
            id: number;
            limit_minor: number;
            line: string;
            note: string;
            /** Format: uuid */
            order: string;
        };
        Availability: {
            /**
             * Format: date-time
             * @description When it was counted. While nothing changes it stays for up to 10 s, and so does the ETag
             */
            as_of: string;
            /** @description Base64; 2 bits a seat by pos, low bits first: 0 free, 1 in a cart and may return, 2 gone, 3 free for presale codes alone */
            bitmap: string;
            blocks: components["schemas"]["FreeBlocks"];
            /** @description For since= */
            cursor: string;
            event: string;
            /** @description Hash of the seat map */
            plan: string;
            sections: components["schemas"]["SectionCounts"][];
            /** @description What this says of the seats; the same for the same */
            state: string;
            /** @description Grows with as_of: of two answers the later one */
            version: number;
        };
        AvailabilityChange: {
            /** Format: date-time */
            as_of: string;
            blocks: components["schemas"]["FreeBlocks"];
            /** @description The seats that have changed, by pos, under what they are now */
            changes: {
                free: number[];
                gone: number[];
                /** @description Missing when none */
                kept?: number[];
                pending: number[];
            };
            cursor: string;
            event: string;
            /** @description Hash of the seat map */
            plan: string;
            /** @description Those of which a count has changed */
            sections: components["schemas"]["SectionCounts"][];
            /** @description The state that this is to be applied to, and to no other: two may share a cursor. Who holds another asks without a cursor */
            since: string;
            /** @description What the seats are once this is applied */
            state: string;
            version: number;
        };
        Changes: {
            changes: {
                /** Format: date-time */
                at: string;
                /** @description The key's name; in brackets, what came by no key */
                by: string;
                /** @description Each setting with what it was and what it became; null: the event was created */
                changed: {
                    [key: string]: unknown[];
                } | null;
                control: components["schemas"]["Control"];
                id: number;
                version: number;
            }[];
            /** @description `before` of the next page; null: there is none */
            next: number | null;
        };
        Claim: {
            /**
             * @description The best free seats, side by side: near the stage and the middle of their
             *     row, not across an aisle, and leaving no single seat behind where another
             *     block of the size avoids it. `sold_out` only where no such block is free;
             *     `left` is then the largest that is.
             */
            best?: {
                /**
                 * @description Of these, places for wheelchairs; the others stand beside them
                 * @default 0
                 */
                accessible: number;
                count: number;
                /** @description Left out: in any */
                section?: string;
                /**
                 * @description Rather apart than not at all; see together
                 * @default false
                 */
                split: boolean;
                /** @description Left out: of any price */
                tier?: string;
            };
            /** @description Of a presale: 6 to 64 letters and digits; case, spaces and dashes say nothing. Whoever gives one spends it, needed or not */
            code?: string;
            quantity?: number;
            seats?: string[];
            tier?: string;
        } & (unknown | unknown | unknown);
        /** @enum {string} */
        Control: "run" | "paused" | "closed";
        Counts: {
            free: number;
            held_back: number;
            pending: number;
            sold: number;
        };
        Delivery: {
            /**
             * Format: date-time
             * @description When it became true
             */
            at: string;
            /** @description Of this go */
            attempts: number;
            can_replay: boolean;
            /**
             * Format: date-time
             * @description null: it does not wait
             */
            due_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            endpoint: string;
            event: string | null;
            /** @description Raised by a replay */
            go: number;
            id: number;
            kind: string;
            /** @description webhook-id, the same at every attempt and in every replay */
            notice: string;
            /**
             * @description Why it is dead
             * @enum {string|null}
             */
            reason: "max_attempts" | "gone" | "endpoint_deleted" | "too_old" | null;
            status: components["schemas"]["DeliveryStatus"];
            subject: string;
            /** @description Of the subject */
            version: number;
        };
        /** @enum {string} */
        DeliveryStatus: "waiting" | "sending" | "delivered" | "dead";
        DeliveryWhole: {
            /** @description To the letter, as it is signed */
            body: string;
            delivery: components["schemas"]["Delivery"];
            /** @description The latest first; the last hundred */
            tries: {
                /** @description Its beginning, 64 KiB at most; what is no text is shown as U+FFFD */
                answer: string;
                attempt: number;
                error: string;
                /**
                 * Format: date-time
                 * @description null: it is under way
                 */
                finished_at: string | null;
                go: number;
                /** Format: date-time */
                started_at: string;
                /** @description null: no answer came, or none yet */
                status: number | null;
            }[];
        };
        /** @enum {string} */
        Do: "take" | "note" | "resolve" | "push" | "refunded" | "not_refunded" | "renew" | "renew_all_the_same" | "reopen" | "look_again" | "give_back";
        DoorName: string;
        /** @description All that anybody needs to check the draw: number = shuffle(SHA-256(seed ‖ value), count, index), the swap-or-not shuffle with 90 rounds of SHA-256 */
        Draw: {
            /** @description The name of the public value that decides too; empty: there is none */
            beacon: string;
            /** @description Hex SHA-256 of the seed, published before the lobby opens */
            commit: string;
            /** @description How many are drawn; null while the lobby is open */
            count: number | null;
            /** Format: date-time */
            lobby_closes_at: string;
            /** Format: date-time */
            lobby_opens_at: string;
            /** @description Hex; null until the draw */
            seed: string | null;
            /** @description The beacon's, as it was published */
            value: string | null;
        };
        Endpoint: {
            /** Format: date-time */
            created_at: string;
            health?: {
                dead: number;
                /** Format: date-time */
                failing_since: string | null;
                /** @description Attempts that failed one after the other, over all deliveries */
                failures: number;
                last_failure: {
                    /** Format: date-time */
                    at: string;
                    error: string;
                    /** @description null: no answer came */
                    status: number | null;
                } | null;
                /** Format: date-time */
                last_success_at: string | null;
                /**
                 * Format: date-time
                 * @description Held back until then, by its limits or as it asked
                 */
                next_start_at: string | null;
                /**
                 * Format: date-time
                 * @description When the oldest notice that waits became true
                 */
                oldest_waiting_at: string | null;
                sending: number;
                waiting: number;
            };
            id: string;
            /**
             * Format: date-time
             * @description Until then two secrets sign; null: one does
             */
            old_secret_until: string | null;
            /**
             * @description Why it is not active: somebody's word; 410 was answered; it failed for too long
             * @enum {string|null}
             */
            reason: "asked" | "gone" | "failing" | null;
            settings: components["schemas"]["EndpointSettings"];
            state: components["schemas"]["EndpointState"];
            version: number;
        };
        EndpointSecret: {
            endpoint: components["schemas"]["Endpoint"];
            /** @description As Standard Webhooks libraries take it. Shown once; null: it was */
            secret: string | null;
        };
        EndpointSettings: {
            /** @description 0 to 86400. The nth attempt of a delivery begins max(min_interval_s, min(dispatch_gap_s, backoff_base_s × factor^(n−1))) after the end of the one before at the earliest */
            backoff_base_s: number;
            dispatch_gap_s: number;
            /** @description 1 to 100 attempts under way */
            in_flight: number;
            /** @description Notices that it is told of; none: all, also those that there will be */
            kinds: string[];
            /** @description 1 to 100 of one delivery; then it is dead */
            max_attempts: number;
            min_interval_s: number;
            /** @description 1 to 60000 attempts that begin */
            per_minute: number;
            /** @description https, without a user, of characters that can be printed; a public address on port 443 or one from 1024 on */
            url: string;
        };
        /** @enum {string} */
        EndpointState: "active" | "draining" | "disabled";
        /** @description EndpointSettings; what is left out is as usual */
        EndpointWish: {
            /** @default 5 */
            backoff_base_s: number;
            /** @default 3600 */
            dispatch_gap_s: number;
            /** @default 4 */
            in_flight: number;
            kinds?: string[] | null;
            /** @default 12 */
            max_attempts: number;
            /** @default 1 */
            min_interval_s: number;
            /** @default 6000 */
            per_minute: number;
            url: string;
        };
        Events: {
            events: {
                id: string;
                /** Format: date-time */
                opens_at: string;
                seats: components["schemas"]["Counts"];
                state: components["schemas"]["SaleState"];
                title: string;
                venue?: string;
            }[];
        };
        /** @description By section, how many free seats stand side by side at most, those for presale codes alone not counted; of a change, where that has changed. Places for wheelchairs divide a block */
        FreeBlocks: {
            [key: string]: number;
        };
        HelpedOrder: {
            amount_minor: number;
            currency: string;
            event: string;
            lines: {
                amount_minor: number;
                /** @description Its refund was confirmed, and its seat went back: it is not this order's any more */
                given_back: boolean;
                line: string;
                number: string;
                refund: components["schemas"]["Refund"] | null;
                row: string;
                section: string;
            }[];
            /** Format: uuid */
            order: string;
            /** Format: date-time */
            paid_at: string | null;
            /** @description How many of its lines were refunded and gave their seats back */
            seats_given_back: number;
            /** @enum {string} */
            status: "pending" | "paid" | "expired" | "cancelled";
            title: string;
        };
        HumanItem: {
            amount_minor: number;
            /** @description What somebody refunded of the payment by hand, for a line that nobody knows: it may be this one */
            by_hand_minor: number;
            can: components["schemas"]["Do"][];
            currency: string;
            detail: string;
            event: string | null;
            history?: {
                /** Format: date-time */
                at: string;
                by: string;
                /** @enum {string} */
                did: "opened" | "reopened" | "owned" | "noted" | "pushed" | "decided" | "resolved";
                note: string;
            }[];
            id: number;
            kind: string;
            /** Format: date-time */
            opened_at: string;
            operation: string | null;
            /** Format: uuid */
            order: string | null;
            owner: string | null;
            /** Format: uuid */
            payment: string | null;
            /** Format: date-time */
            resolved_at: string | null;
            /** @description The operation's */
            status: string | null;
            subject: string;
        };
        JoinAsked: {
            /** @description A token of the organiser's sign-in: a JWT for our audience */
            account?: string;
            /** @description A challenge's answer */
            challenge?: string;
            /** @description An access code; case, spaces and dashes say nothing */
            code?: string;
        };
        Joined: {
            place: components["schemas"]["Place"];
            /** @description Of a place that joined before lobby_closes_at: a JWT (typ waitroom-lobby-receipt+jwt, keys in the JWKS) that proves its index and the commitment it was given for */
            receipt?: string;
            /** @description Only when the server made it */
            secret?: string;
            ticket: string;
        };
        Key: string;
        Leaving: {
            /** @description Seats that were looked for and not found */
            wanted?: number;
        };
        Listed: {
            currency: string;
            event: string;
            held_back: number;
            remarks: string[];
            seats: number;
            tiers: {
                amount_minor: number;
                id: string;
                seats: number;
            }[];
        };
        Live: {
            /** @description Of the oldest number; null: nobody can say */
            age_s: number | null;
            /** Format: date-time */
            as_of: string;
            control: components["schemas"]["Control"];
            event: string;
            /** @description null: none is recent enough */
            numbers: components["schemas"]["Numbers"] | null;
            rate_set: number | null;
            /** @description Why nobody is let in */
            reason: string;
            state: components["schemas"]["SaleState"];
        };
        Look: {
            /** @description The colour of buttons and bars, which stands out on white by 3 to 1; empty - the house's */
            accent: string;
            /** @description The organiser's name, as the event's pages say it */
            by: string;
            /** @description What the organiser says on the event's page */
            note: string;
        };
        NotYet: {
            ahead: number;
            /** @description In the grace lane */
            late: boolean;
            reason: string;
            /** @description To the millisecond. At the door one is to come again within 0.3 s, and who waits a whole second there leaves credit unused. Retry-After is the same in whole seconds, rounded up */
            retry_after_s: number;
            sale_state: components["schemas"]["SaleState"];
            /** @enum {string} */
            state: "lobby" | "waiting" | "called";
            /** @description In place of the one that was shown: it carries the number since the draw, or that its holder has solved a challenge */
            ticket?: string;
        };
        Numbers: {
            at_door: number;
            /** @description Called, expected, not come yet */
            coming: number;
            front: number;
            inside: number;
            let_in: number;
            let_in_last_minute: number;
            /** @description People a second, in force */
            rate: number;
            seats: components["schemas"]["Counts"];
            share: number;
            tail: number;
            tickets: number;
            turn: number;
            /** @description null: nobody knows, after a loss of the line's store */
            waiting: number | null;
            wave: number;
        };
        Order: {
            amount_minor: number;
            /** Format: date-time */
            created_at: string;
            currency: string;
            event: string;
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            pay_by: string;
            pay_url: string;
            seats: {
                amount_minor: number;
                code: components["schemas"]["SeatCode"];
                /** @description It was refunded, and the seat is not this order's any more */
                given_back: boolean;
                guid: string;
                number: string;
                row: string;
                section: string;
                tier: string;
            }[];
            /** @enum {string} */
            status: "pending" | "paid" | "expired" | "cancelled";
            /** @description Its numbered seats stand side by side; left out where it has none */
            together?: boolean;
            version: number;
        };
        OrderAnswer: {
            order: components["schemas"]["Order"];
        };
        Outlook: {
            last_wait_s: components["schemas"]["Span"];
            /** @description Of those who wait: who are told that seats are likely */
            likely: number;
            possible: number;
            /** @description People a second that would be let in: what is borne may be less */
            rate: number;
            /** @description Until everything is in carts; null: those who are here leave seats over */
            sold_out_in_s: number | null;
            unlikely: number;
        };
        OwnEvents: {
            events: {
                control: components["schemas"]["Control"];
                id: string;
                /** Format: date-time */
                opens_at: string;
                title: string;
                version: number;
            }[];
            organiser: string;
        };
        Pass: {
            /** Format: date-time */
            expires_at: string;
            number: number;
            pass: string;
            quota: number;
            take: number;
        };
        PaymentAnswer: {
            /** Format: date-time */
            pay_by: string;
            payment: {
                amount_minor: number;
                checkout_url: string;
                currency: string;
                id: string;
                status: string;
            };
        };
        Place: {
            epoch: number;
            event: string;
            /** @description In the order of joining */
            index: number;
            /** Format: date-time */
            joined_at: string;
            /** @description null: still to be drawn */
            number: number | null;
            /**
             * @description open: the event has no line, and this is no place
             * @enum {string}
             */
            state: "lobby" | "waiting" | "called" | "passed" | "over" | "left" | "open";
        };
        PlaceState: {
            number: number | null;
            /** @enum {string} */
            state: "lobby" | "waiting" | "called" | "passed" | "over" | "left";
        };
        PlaceView: {
            ahead: number;
            /** @description null: nobody can say */
            eta_s?: components["schemas"]["Span"] | null;
            /** @description Of a place in the lobby */
            index?: number;
            /** @description Called, and did not come within the call window: it may still come, and is let in as the grace lane goes */
            late: boolean;
            /** @description null: still to be drawn */
            number: number | null;
            poll_s: number;
            /** @description Who stays all the same stands by */
            queue_exceeds_tickets: boolean;
            reason: string;
            sale_state: components["schemas"]["SaleState"];
            seats: components["schemas"]["Counts"];
            /** @enum {string} */
            state: "lobby" | "waiting" | "called" | "passed" | "over" | "left";
            /** @description After the draw: the ticket that carries the number, in place of the one that was shown */
            ticket?: string;
            /** @enum {string} */
            verdict: "likely" | "possible" | "unlikely";
            /** @description As the status document's: of two answers, which may come of two replicas, the higher is the later; show no earlier one */
            version: number;
        };
        PlanFile: {
            /** @example hall.json */
            name: string;
            /** @description The file as it is, 16 MiB at most with the rest */
            text: string;
        };
        PlanRead: {
            categories: {
                /** @description CSS; empty: none */
                color: string;
                name: string;
                seats: number;
            }[];
            /** @description Of each seat with a place: x, y (plan units, downwards), its category's index */
            drawn: number[][];
            /** @description The plan's own */
            name: string;
            /** @description Oddities that are allowed, and that may not be meant */
            remarks: string[];
            seats: number;
            sections: number;
        };
        /** @description What is sold to its codes alone. What two presales name is sold to the codes of either */
        Presale: {
            name: string;
            /** @description Of numbered seats */
            sections: string[];
            /** @description General admission is named by its tier */
            tiers: string[];
            /**
             * Format: date-time
             * @description From then on it is everybody's; null: never
             */
            until: string | null;
        };
        Problem: {
            /** @description challenge_required: where to solve one; its answer goes into the body of the join, or of the request for the pass */
            challenge_url?: string;
            /**
             * @description A code never gets another meaning
             * @enum {string}
             */
            code: "bad_request" | "key_missing" | "bad_signature" | "token_missing" | "ticket_invalid" | "pass_invalid" | "token_invalid" | "account_required" | "account_invalid" | "code_required" | "code_wrong" | "code_unknown" | "code_needed" | "challenge_required" | "foreign_origin" | "scope_missing" | "own_request" | "no_such_route" | "no_such_event" | "no_such_order" | "no_such_line" | "no_such_approval" | "no_such_item" | "no_such_endpoint" | "no_such_delivery" | "attempt_unknown" | "method_not_allowed" | "not_acceptable" | "code_used_up" | "code_spent" | "seats_taken" | "sold_out" | "over_limit" | "lobby_not_open" | "sale_not_open" | "no_line" | "sale_closed" | "order_paid" | "order_ended" | "too_many_payments" | "confirm_needed" | "order_not_paid" | "seat_cheaper" | "line_refunding" | "nothing_to_refund" | "already_refunded" | "approval_refused" | "refund_refused" | "approval_decided" | "approval_changed" | "not_now" | "by_hand_too" | "refund_taken" | "refund_differs" | "too_many_endpoints" | "secret_rotating" | "delivery_not_ended" | "event_exists" | "plan_there" | "plan_fixed" | "plan_lacks" | "epoch_changed" | "place_left" | "place_over" | "settings_changed" | "too_large" | "encoding_refused" | "key_reused" | "unknown_seat" | "unknown_tier" | "unknown_section" | "flawed_file" | "senseless_setting" | "precondition_missing" | "cool_down" | "too_many_requests" | "headers_too_large" | "internal" | "busy" | "line_full" | "unavailable" | "claim_unknown" | "payment_unknown" | "payments_throttled" | "provider_unavailable" | "refunds_behind" | "refund_unknown";
            /** @description confirm_needed: what to send as Confirm, if it is meant */
            confirm?: string;
            detail?: string;
            /** @description settings_changed: of the settings as they are */
            etag?: string;
            /** @description flawed_file: the first twenty places to mend */
            flaws?: {
                field: string;
                /** @description Empty: what was read of it all */
                file: string;
                line: number | null;
                reason: string;
            }[];
            /** @description sold_out: how many there are; code_spent: seats that are left of the code */
            left?: number;
            /** @enum {string} */
            limit?: "order" | "account" | "pass" | "tier" | "pending_order";
            /** @description over_limit by a pending order: that one */
            order?: string;
            /** @description bad_signature: what is wrong with it; of a refused refund: why */
            reason?: string;
            refund?: components["schemas"]["Refund"];
            /** @description scope_missing: which */
            scope?: string;
            /** @description senseless_setting, confirm_needed, bad_request: which */
            setting?: string;
            status: number;
            /** @description seats_taken: which; code_needed: which are sold to codes */
            taken?: string[];
            title: string;
            type: string;
            /**
             * Format: date-time
             * @description secret_rotating: the secret before the present one signs until then
             */
            until?: string;
        };
        Proof: {
            /** @description A challenge's answer */
            challenge?: string;
        };
        Refund: {
            amount_minor: number;
            /**
             * @description queued, sending, unknown: do not send again
             * @enum {string}
             */
            answer: "confirmed" | "queued" | "sending" | "unknown" | "needs_approval" | "refused";
            approval: number | null;
            currency: string;
            /** @description What is known, what to do, and what not */
            detail: string;
            /** @description The seat's guid; null: all of a payment that was not due */
            line: string | null;
            operation: null | {
                /** Format: date-time */
                accepted_at: string;
                /** Format: date-time */
                ended_at: string | null;
                /** @description Names what is refunded; the provider's idempotency key */
                id: string;
                /** @description The operation that this one follows */
                parent?: string;
                /** @description The provider's name of the refund */
                refund?: string;
                /** @enum {string} */
                status: "queued" | "submitted" | "unknown" | "pending" | "confirmed" | "rejected" | "manual" | "failed_later";
            };
            /** Format: uuid */
            order: string;
            /** @enum {string|null} */
            reason: "approval_refused" | "provider_refused" | "did_not_arrive" | "over_limit" | "refunded_by_hand" | "with_a_person" | null;
        };
        Replays: {
            endpoint: string;
            replayed: number;
            /** @description false: ask the same again */
            whole: boolean;
        };
        /**
         * @description scheduled: it has not opened, nor has its lobby, or that is drawn already; lobby: whoever comes now is drawn; drawing: the lobby has closed, its order is still to be drawn
         * @enum {string}
         */
        SaleState: "scheduled" | "lobby" | "drawing" | "open" | "paused" | "closed_on_doubt" | "exhausted" | "closed";
        Scan: {
            device: string;
            first: components["schemas"]["Sighting"] | null;
            /**
             * @description Why it is not valid
             * @enum {string|null}
             */
            flaw: "unreadable" | "other_event" | "unknown_key" | "signature" | "unknown" | null;
            gate: string;
            id: string;
            let_in: boolean;
            /**
             * @description `admitted` alone opens the door; `first` says when and where the ticket was
             * @enum {string}
             */
            outcome: "admitted" | "already_in" | "revoked" | "not_paid" | "not_valid";
            /** Format: date-time */
            recorded_at: string;
            /** Format: date-time */
            revoked_at: string | null;
            /**
             * Format: date-time
             * @description By the device's clock
             */
            scanned_at: string;
            seat: {
                guid: string;
                number: string;
                row: string;
                section: string;
                tier: string;
            } | null;
            ticket: components["schemas"]["TicketID"] | null;
        };
        /** @description What opens the door for this seat, to be shown as a QR code; null: it is not paid, or not this order's any more */
        SeatCode: string | null;
        /** @description What a browser draws a hall and names its seats with (docs/SEATMAP.md). Coordinates are whole numbers of 1/scale plan units */
        Seatmap: {
            /** @description Drawn under the seats, in this order */
            areas: components["schemas"]["SeatmapArea"][];
            /** @description x, y, width and height of what has to be in view */
            box: number[];
            currency: string;
            /** @description Of the currency: an amount of 6900 at 2 decimals is 69.00 */
            decimals: number;
            name: string;
            /** @description By pos: a row's first pos is the number of seats in the rows before it */
            rows: components["schemas"]["SeatmapRow"][];
            scale: number;
            seats: number;
            sections: string[];
            tiers: {
                /** @description In minor units */
                amount: number;
                color?: string;
                id: string;
            }[];
            /** @constant */
            version: 1;
        };
        SeatmapArea: {
            at: number[];
            border?: string;
            color?: string;
            /** @description x, y, x, y, relative to at */
            points?: number[];
            shape: string;
            size?: number[];
            text?: {
                at: number[];
                color?: string;
                size?: number;
                text: string;
            };
            /** @description Degrees clockwise around at */
            turn?: number;
        };
        /** @description A row of numbered seats, or that many units of general admission */
        SeatmapRow: {
            /** @description Wheelchair places by their index in the row */
            accessible?: number[];
            /** @description Units, numbered from 1 and not drawn */
            general?: number;
            guids?: string[];
            /** @description One label for each seat */
            numbers?: string[];
            /** @description A seat's guid is this and its number, unless there are guids */
            prefix?: string;
            /** @description Its label, if it has one */
            row?: string;
            /** @description An index into sections */
            section: number;
            /** @description An index into tiers for the whole row, or one for each seat */
            tier: number | number[];
            /** @description The first absolute, each other as the difference from the one before */
            x?: number[];
            y?: number[];
        };
        SeatNames: {
            /** @description By guid */
            seats: string[];
        };
        SectionCounts: {
            free: number;
            /** @description Free, and for presale codes alone: not among free. Missing when none */
            kept?: number;
            pending: number;
            section: string;
            sold: number;
            tier: string;
        };
        Settings: {
            /** @description order_limit at least */
            account_limit: number;
            call_window_s: number;
            /**
             * Format: date-time
             * @description Later than opens_at, and to come; null: not by itself
             */
            closes_at: string | null;
            /** @description From the end of the time to pay */
            cool_down_s: number;
            /** @description Orders that an account may let run out unpaid; from then on each costs it the cool-down */
            lapse_limit: number;
            /**
             * @description Money that comes after its order has expired goes back, or takes the same seats again if all of them are free
             * @enum {string}
             */
            late: "refund" | "reclaim";
            /** @description People who wait in the line at most. Whoever was called, or gave the place up, does not count. The line is never full below this; it may let some more in where nobody can know who is gone: after its store was lost all who wait then are not counted, and whoever gave up in the last seconds may count twice */
            line_cap: number;
            /** @description People inside at once; null: no cap */
            max_inside: number | null;
            /**
             * Format: date-time
             * @description Stays what it is once it has passed; never set to more than a minute ago
             */
            opens_at: string;
            order_limit: number;
            pass_life_s: number;
            /** @description Of passes that are issued from now on */
            pass_quota: number;
            pay_extension_s: number;
            pay_within_s: number;
            /** @description Payments that may be opened a second; null: no cap */
            payment_quota: number | null;
            /** @description null: everything is sold to everybody */
            presales: components["schemas"]["Presale"][] | null;
            /** @description People a second; null: nobody is let in */
            rate: number | null;
            /** @description What may be asked to go back of one order, all lines together, before a person is asked; null: what the installation was told. Changed by keys with refunds:approve, also after the sale has closed */
            refund_limit_minor: number | null;
            /** @description Of those let in, who buy; null: not known */
            share_prior: number | null;
            stock_slack: number;
            tickets_prior: number | null;
            /** @description Tickets of a price tier that one account may hold and have paid for, by tier; null: no tier has a limit of its own */
            tier_limits: {
                [key: string]: number;
            } | null;
        };
        /** @description What was read; spaces, dashes and case say nothing */
        ShownCode: string;
        Sighting: {
            device: string;
            gate: string;
            id: string;
            /** Format: date-time */
            recorded_at: string;
            /** Format: date-time */
            scanned_at: string;
        };
        Span: {
            p50: number;
            p90: number;
        };
        Status: {
            /** Format: date-time */
            as_of: string;
            at_door: number;
            call_window_s: number;
            /** @description What bounds the rate in force, and how many are inside */
            capacity: {
                /**
                 * @description organiser: what was asked for is in force; inside: max_inside lets in fewer; store: who is let in is written down too slowly for the rate, and waits are told by how many are
                 * @enum {string}
                 */
                limited_by: "organiser" | "claims" | "payments" | "inside" | "store";
                /** @description People inside at once, as the organiser set it; null: no cap */
                max_inside: number | null;
                /** @description People a second, as asked for; 0: nothing that makes sense */
                organiser_rate: number;
                /** @description How many more it has room for; null: no cap */
                room: number | null;
            };
            /** @description Called lately, expected, and not come yet */
            coming: number;
            /** @description null: first come, first served */
            draw: components["schemas"]["Draw"] | null;
            epoch: number;
            /** @description null: nobody can say */
            eta_s_per_100: components["schemas"]["Span"] | null;
            event: string;
            /** @description Places below it are called */
            front: number;
            inside: number;
            let_in_last_minute: number;
            /** Format: date-time */
            opens_at: string;
            poll: {
                jitter: number;
                max_s: number;
                min_s: number;
                share_of_eta: number;
            };
            /** @description People a second, in force */
            rate: number;
            /** @description Why nobody is let in */
            reason: string;
            seats: components["schemas"]["Counts"];
            /** @description Of those let in, who want to buy (learnt) */
            share: number;
            /** @description Whoever has as many ahead stands behind the stock (queue_exceeds_tickets) and may stay on standby; null: no line would be that long */
            standby_ahead: number | null;
            state: components["schemas"]["SaleState"];
            /** @description The next number */
            tail: number;
            /** @description Let in so far */
            taken: number;
            /** @description That each of these wants (learnt) */
            tickets: number;
            title: string;
            /** @description Of those called, who come (learnt) */
            turn: number;
            /** @description Places that turn was learnt from: how far off it may be */
            turn_seen: number;
            /** @description Of two documents of an epoch, of whichever replicas, the later has the higher, or the same while nothing is released */
            version: number;
            /** @description Not called, and not known to have left; null: nobody knows, after a loss of the line's store */
            waiting: number | null;
            wave: number;
        };
        Steered: {
            /** @enum {string} */
            change: "changed" | "unchanged" | "pending";
            control: components["schemas"]["Control"];
            event: string;
            /** @description Of the event, after it; null: not written down yet */
            version: number | null;
        };
        /** @description The seat's index and its generation: bytes 5 to 11 of a code */
        TicketID: string;
        Withdrawal: {
            /** @description Off once they come back; sold, if they are paid for */
            in_cart: string[];
            /** @description Not sold any more */
            off: string[];
            sold: string[];
            /** @description The hall has none so called */
            unknown: string[];
        };
    };
    responses: {
        /** @description A refusal or a fault, with a stable code */
        Problem: {
            headers: {
                /** @description Seconds */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It is scheduled; it goes out while its endpoint is active */
        Scheduled: {
            headers: {
                /** @description The delivery */
                Location: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    delivery: number;
                    endpoint: string;
                    state: components["schemas"]["EndpointState"];
                };
            };
        };
    };
    parameters: {
        /** @description The order's account, or its holder: in a header, for addresses are logged */
        customer: string;
        delivery: string;
        endpoint: string;
        event: string;
        /** @description Names the attempt; the same key and body has the effect of one */
        key: components["schemas"]["Key"];
        order: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Keys that passes are signed with */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAttempt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
                /** @description The attempt's Idempotency-Key, percent-encoded */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    claimSeats: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
                /** @description How long to wait for the outcome, in seconds */
                Prefer?: string;
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Claim"];
            };
        };
        responses: {
            /** @description This attempt was answered before; the same order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            /** @description The seats are held until pay_by */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            /** @description The wait ended first; look at Location */
            202: {
                headers: {
                    Location: string;
                    "Retry-After": number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    leaveInside: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Leaving"];
            };
        };
        responses: {
            /** @description Noted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    stayInside: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Noted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    joinLine: {
        parameters: {
            query?: never;
            header?: {
                "Waitroom-Ticket"?: string;
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["JoinAsked"];
            };
        };
        responses: {
            /** @description The live place again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Joined"];
                };
            };
            /** @description A new place */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Joined"];
                };
            };
            /**
             * @description Too many joins from this network, where the operator has set a limit.
             *     Then every answer says where the network stands
             *     (draft-ietf-httpapi-ratelimit-headers).
             */
            429: {
                headers: {
                    /** @description How many are left, and seconds until all are again: "joins";r=0;t=60 */
                    RateLimit: string;
                    /** @description How many in how many seconds: "joins";q=100;w=60 */
                    "RateLimit-Policy": string;
                    /** @description Seconds */
                    "Retry-After": number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getPlace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The place */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlaceView"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    leaveLine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlaceState"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    takePass: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Proof"];
            };
        };
        responses: {
            /** @description The pass; the same one whenever asked again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pass"];
                };
            };
            /** @description Not yet; come again after retry_after_s */
            202: {
                headers: {
                    /** @description Seconds, rounded up: retry_after_s is finer */
                    "Retry-After": number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotYet"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listRevocations: {
        parameters: {
            query?: {
                /** @description `next` of the page before */
                after?: number;
            };
            header?: {
                "If-None-Match"?: string;
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description There is more already */
                        more: boolean;
                        /** @description after= of the next page, also where there is nothing yet */
                        next: number;
                        revocations: {
                            /** Format: date-time */
                            at: string;
                            no: number;
                            /** @description Its guid */
                            seat: string;
                            ticket: components["schemas"]["TicketID"];
                        }[];
                    };
                };
            };
            /** @description Nothing new since If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    scanCode: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    code: components["schemas"]["ShownCode"];
                    device: components["schemas"]["DoorName"];
                    gate: components["schemas"]["DoorName"];
                    /**
                     * @description The device decided by itself, and the bearer is in
                     * @default false
                     */
                    let_in?: boolean;
                    /**
                     * Format: date-time
                     * @description By the device's clock; left out: now
                     */
                    scanned_at?: string | null;
                };
            };
        };
        responses: {
            /** @description It is recorded, and this is what it was */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scan: components["schemas"]["Scan"];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listConflicts: {
        parameters: {
            query?: {
                /** @description `next` of the page before */
                before?: number;
                limit?: number;
            };
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Scans */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        conflicts: components["schemas"]["Scan"][];
                        next: number | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    uploadScans: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    scans: unknown[];
                };
            };
        };
        responses: {
            /** @description What became of each, in the order that they were told in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        scans: {
                            id: string | null;
                            problem: components["schemas"]["Problem"] | null;
                            scan: components["schemas"]["Scan"] | null;
                        }[];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    cancelOrder: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancelled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    openPayment: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Opened */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentAnswer"];
                };
            };
            /** @description To the checkout page */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listRefunds: {
        parameters: {
            query?: never;
            header?: {
                /** @description The order's account, or its holder: in a header, for addresses are logged */
                Customer?: components["parameters"]["customer"];
            };
            path: {
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The oldest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        order: string;
                        refunds: components["schemas"]["Refund"][];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    askForRefund: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["Key"];
            };
            path: {
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The order's account, or its holder */
                    customer: string;
                    /** @description The seat's guid, numbered or not */
                    line: string;
                };
            };
        };
        responses: {
            /** @description It has been refunded */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
            /** @description It is accepted, on its way, not known yet, or waits for a person */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getClaims: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Of those that reported within the last 5 s */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of the oldest report; null: there is none */
                        age_s: number | null;
                        /** @description Claims answered, granted or not */
                        answers_per_s: number;
                        claimers: number;
                        claims_per_s: number;
                        /** @description Of these, not served */
                        errors_per_s: number;
                        /** @description From arrival to answer, at the slowest claimer */
                        p95_ms: number;
                        /** @description That the first of a queue has waited, at the slowest */
                        queue_age_ms: number;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description An order, with its refunds; or another notice's subject */
                about?: string;
                /** @description `next` of the page before */
                before?: number;
                endpoint?: string;
                kind?: string;
                limit?: number;
                /** @description Of what became true since then */
                since?: string;
                status?: components["schemas"]["DeliveryStatus"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deliveries: components["schemas"]["Delivery"][];
                        next: number | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery: components["parameters"]["delivery"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryWhole"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                delivery: components["parameters"]["delivery"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["Scheduled"];
            default: components["responses"]["Problem"];
        };
    };
    listEndpoints: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Endpoints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        endpoints: components["schemas"]["Endpoint"][];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    addEndpoint: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointWish"];
            };
        };
        responses: {
            /** @description The endpoint, and what it is signed with */
            201: {
                headers: {
                    ETag: string;
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint */
            200: {
                headers: {
                    /** @description Its version; how it does changes none */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Deliveries that waited */
                        ended: number;
                        endpoint: string;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listEndpointChanges: {
        parameters: {
            query?: {
                /** @description `next` of the page before */
                before?: number;
                limit?: number;
            };
            header?: never;
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        changes: {
                            /** Format: date-time */
                            at: string;
                            /** @description A key's name, or courier */
                            by: string;
                            /** @enum {string} */
                            did: "added" | "edited" | "rotated" | "state" | "deleted" | "replayed" | "tested";
                            id: number;
                            new: {
                                [key: string]: unknown;
                            } | null;
                            old: {
                                [key: string]: unknown;
                            } | null;
                        }[];
                        next: number | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    replaySince: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Left out: both
                     * @enum {string}
                     */
                    only?: "" | "dead" | "delivered";
                    /** Format: date-time */
                    since: string;
                };
            };
        };
        responses: {
            /** @description So many are scheduled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replays"];
                };
            };
            /** @description So many so far; ask the same again */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replays"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    rotateEndpointSecret: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description 0 to 604800 seconds
                     * @default 86400
                     */
                    overlap_s?: number;
                    /** @default false */
                    replace?: boolean;
                };
            };
        };
        responses: {
            /** @description The endpoint, and what it is signed with */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEndpointSettings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings, and the tag to PUT them back by */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointSettings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putEndpointSettings: {
        parameters: {
            query?: never;
            header: {
                /** @description The settings' ETag; * for whatever they are */
                "If-Match": string;
            };
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointSettings"];
            };
        };
        responses: {
            /** @description The settings as they are now */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointSettings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putEndpointState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    state: components["schemas"]["EndpointState"];
                };
            };
        };
        responses: {
            /** @description The endpoint as it is now */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    testEndpoint: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                endpoint: components["parameters"]["endpoint"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: components["responses"]["Scheduled"];
            default: components["responses"]["Problem"];
        };
    };
    listOwnEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnEvents"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description An event.yaml, as examples/event.yaml has every key */
                    file: string;
                    /** @description The plan that the file names; null if it names none */
                    plan?: components["schemas"]["PlanFile"] | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listed"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description `next` of the page before */
                before?: number;
                limit?: number;
            };
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    closeSale: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Closed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Steered"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Live"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    readLook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The look */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Look"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    setLook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Look"];
            };
        };
        responses: {
            /** @description As it is set */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Look"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    moveSeat: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The order's seat, by guid */
                    from: string;
                    to: string;
                };
            };
        };
        responses: {
            /** @description Exchanged */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        from: string;
                        /** Format: uuid */
                        order: string;
                        to: string;
                        version: number;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    extendOrders: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description 1 to 3600 seconds, taken as whole ones */
                    by_s: number;
                    /** @description At most 500 characters; kept in the record */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description So many orders have more time by this extension */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @description Orders that were pending then
                         */
                        at: string;
                        by_s: number;
                        event: string;
                        extension: number;
                        orders: number;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getOutlook: {
        parameters: {
            query?: {
                /** @description People a second; left out: as it is set */
                rate?: number;
            };
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        as_of: string;
                        event: string;
                        /**
                         * @description What bounds the rate in force now, or how many come in at all: as in the status
                         * @enum {string}
                         */
                        limited_by: "organiser" | "claims" | "payments" | "inside" | "store";
                        /** @description null: nobody can say */
                        outlook: components["schemas"]["Outlook"] | null;
                        /** @description null: none is set */
                        rate_asked: number | null;
                        state: components["schemas"]["SaleState"];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    pauseSale: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Paused */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Steered"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    importPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /** @description By category, in the event's currency */
                    prices?: {
                        [key: string]: string;
                    };
                    /**
                     * @description Take the place of all that the event sells, general admission too
                     * @default false
                     */
                    replace?: boolean;
                    text: string;
                };
            };
        };
        responses: {
            /** @description Imported */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listed"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    resumeSale: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Running */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Steered"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    freeHeldSeats: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    count: number;
                };
            };
        };
        responses: {
            /** @description How many are on sale now; 0: none was held back, or the sale is closed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        freed: number;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    restoreSeats: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeatNames"];
            };
        };
        responses: {
            /** @description Which were withdrawn, and are not any more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        restored: string[];
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    withdrawSeats: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the attempt; the same key and body has the effect of one */
                "Idempotency-Key": components["parameters"]["key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeatNames"];
            };
        };
        responses: {
            /** @description By what became of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Withdrawal"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getWithdrawnSeats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By what became of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Withdrawal"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings, and the tag to PUT them back by */
            200: {
                headers: {
                    /** @description Of the settings alone; a pause does not change it */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putSettings: {
        parameters: {
            query?: never;
            header: {
                /** @description That this step is meant */
                Confirm?: string;
                /** @description The settings' ETag; * for whatever they are */
                "If-Match": string;
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Settings"];
            };
        };
        responses: {
            /** @description The settings as they are now */
            200: {
                headers: {
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    stopSale: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["Key"];
            };
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stopped */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Steered"];
                };
            };
            /** @description Stopped; it could not be written down yet, and will be as soon as it can */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Steered"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listHuman: {
        parameters: {
            query?: {
                /** @description `next` of the page before */
                before?: number;
                limit?: number;
                state?: "open" | "resolved";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Items */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["HumanItem"][];
                        next: number | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getHumanItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                item: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The item */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HumanItem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    doHumanItem: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["schemas"]["Key"];
            };
            path: {
                item: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    do: components["schemas"]["Do"];
                    /** @description refunded: the provider's name of the refund that was found */
                    refund?: string;
                    /** @description All but take need it; it is kept */
                    why?: string;
                };
            };
        };
        responses: {
            /** @description The item as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HumanItem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getOrganiserOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description The order's account, or its holder: in a header, for addresses are logged */
                Customer?: components["parameters"]["customer"];
            };
            path: {
                order: components["parameters"]["order"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HelpedOrder"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    checkPlan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanFile"];
            };
        };
        responses: {
            /** @description What it says */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanRead"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description next of the page before */
                after?: number;
                limit?: number;
                state?: "waiting" | "decided";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Approvals */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        approvals: components["schemas"]["Approval"][];
                        /** @description after= of the next page; null: there is none */
                        next: number | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    decideApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                approval: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    decision: "approved" | "refused";
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Decided */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        approval: number;
                        /** @enum {string} */
                        decision: "approved" | "refused";
                        refund: components["schemas"]["Refund"] | null;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getRefundForecast: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The forecast */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description false: new requests are answered refunds_behind; what is owed is taken all the same */
                        accepting: boolean;
                        /** @description null: never, at this rate */
                        clears_in_s: number | null;
                        closures_per_s: number;
                        /** @description Of these, those that wait for their turn */
                        due: number;
                        inflow_per_s: number;
                        oldest_s: number;
                        promise_s: number;
                        waiting: number;
                        /** @description What was counted over */
                        window_s: number;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    receiveNotice: {
        parameters: {
            query?: never;
            header: {
                "Stripe-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Durable */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        outcome: string;
                    };
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getCodeKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The set; empty where the installation has no keys of codes yet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        keys: {
                            /** @constant */
                            alg: "EdDSA";
                            /** @constant */
                            crv: "Ed25519";
                            kid: string;
                            /** @constant */
                            kty: "OKP";
                            /** @constant */
                            use: "sig";
                            x: string;
                        }[];
                    };
                };
            };
            /** @description Unchanged since If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAvailability: {
        parameters: {
            query?: {
                /** @description The cursor of the last answer, as it was. Caches keep an answer for each of the 4,096 that there are, and none for anything else */
                since?: string;
            };
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of it, or what has changed since the cursor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Availability"] | components["schemas"]["AvailabilityChange"];
                };
            };
            /** @description Unchanged since If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getSeatmap: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
                hash: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The seat map */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Seatmap"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                event: components["parameters"]["event"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            /** @description Unchanged since If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    verifyPass: {
        parameters: {
            query?: {
                event?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Good */
            204: {
                headers: {
                    "Waitroom-Event": string;
                    /** @description When the pass ends, in seconds since 1970 */
                    "Waitroom-Expires": number;
                    /** @description The same for one holder, or one account, of this event; says nothing about them */
                    "Waitroom-Holder": string;
                    /** @description Its number in the line */
                    "Waitroom-Place": number;
                    /** @description Seats that the pass buys */
                    "Waitroom-Quota": number;
                    /** @description Seconds that a gateway may keep this for the same pass and event */
                    "X-Accel-Expires": number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
}
